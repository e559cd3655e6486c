# AsyncTranche, the client for asyncio and trio: here requests are sent, timed and repeated. Its twin is in _client.py.
# What an answer means is decided in _call.py; which operations there are is generated.

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import anyio
import httpx

from ._call import Attempts, Call, Pause, captured
from ._client_base import NO_AUTH, ClientBase, NoCookies, check_size
from ._generated.async_resources import AsyncResources
from ._page import AsyncPage, ListRequest
from ._response import ApiResponse
from ._settings import DEFAULT_MAX_RETRIES, DEFAULT_TIMEOUT_SECONDS, Settings, timeouts_of
from ._unexpected import anything
from ._values import NOT_GIVEN, NotGiven
from .webhooks import AsyncWebhooks

if TYPE_CHECKING:
    from typing_extensions import Self

P = ParamSpec("P")
T = TypeVar("T")


class AsyncTranche(ClientBase, AsyncResources):
    """
    The client for asyncio and trio. One is enough for a program.

        async with AsyncTranche(api_key="tr_live_…") as client:
            project = await client.projects.create(name="Website", client_id="acme")

    The parameters are those of `Tranche`; `http_client` is an `httpx.AsyncClient`. Cancelling the task cancels the call.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | httpx.URL | None = None,
        timeout: float | None = DEFAULT_TIMEOUT_SECONDS,
        max_retries: int = DEFAULT_MAX_RETRIES,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        settings = Settings(api_key, base_url, timeout, max_retries, headers)
        self._http = httpx.AsyncClient(cookies=NoCookies()) if http_client is None else http_client
        self._owns_http = http_client is None
        ClientBase.__init__(self, settings, self._http)
        AsyncResources.__init__(self, self)
        self.webhooks = AsyncWebhooks(self)

    async def close(self) -> None:
        """Closes the connections. Not those of an HTTP client that was handed in."""
        if self._owns_http:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def with_response(
        self, method: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> tuple[T, ApiResponse]:
        """
        Makes one call and returns its result together with the HTTP response, even where the result is None.

            project, response = await client.with_response(client.projects.retrieve, "prj_…")
        """
        box: list[ApiResponse] = []
        token = captured.set(box)
        try:
            result = await method(*args, **kwargs)
        finally:
            captured.reset(token)
        return result, box[-1]

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | NotGiven | None = NOT_GIVEN,
        max_retries: int | None = None,
    ) -> Any:
        """Calls any path, for what this version has no method for yet. Returns decoded JSON, None for no body."""
        return await self._call(
            Call(
                method.upper(),
                path,
                decode=anything,
                query=query,
                body=body,
                idempotency_key=idempotency_key,
                headers=headers,
                timeout=timeout,
                max_retries=max_retries,
            )
        )

    async def _call(self, call: Call[T]) -> T:
        attempts = Attempts(call, self._settings.max_retries)
        timeout = self._timeout_of(call)
        while True:
            answer: tuple[httpx.Response, bytes] | None = None
            try:
                # As anyio.fail_after, which takes twice the time for the same.
                deadline = math.inf if timeout is None else anyio.current_time() + timeout
                with anyio.CancelScope(deadline=deadline):
                    answer = await self._attempt(call, timeout)
                if answer is None:
                    raise TimeoutError
            except (httpx.RequestError, TimeoutError) as failure:
                pause = attempts.on_failure(failure)
            else:
                outcome = attempts.on_response(*answer)
                if not isinstance(outcome, Pause):
                    return outcome
                pause = outcome
            await anyio.sleep(pause.seconds)

    async def _attempt(self, call: Call[Any], timeout: float | None) -> tuple[httpx.Response, bytes]:
        response = await self._open(call, timeouts_of(timeout))
        try:
            return response, await self._content(response)
        finally:
            await response.aclose()

    async def _open(self, call: Call[Any], timeouts: Mapping[str, float | None]) -> httpx.Response:
        request = self._request(call, timeouts)
        return await self._http.send(request, stream=True, auth=NO_AUTH, follow_redirects=False)

    async def _content(self, response: httpx.Response) -> bytes:
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            check_size(size)
            chunks.append(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def _read_page(self, request: ListRequest[T]) -> AsyncPage[T]:
        def decode(values: Any) -> AsyncPage[T]:
            return AsyncPage(request, values, self._read_page)

        return await self._call(Call("GET", request.path, decode=decode, query=request.query, **request.options))
