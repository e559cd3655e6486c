# Tranche, the client that blocks: here requests are sent, timed and repeated. Its twin is in _async_client.py.
# What an answer means is decided in _call.py; which operations there are is generated.

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import httpx

from ._call import Attempts, Call, Pause, captured
from ._client_base import NO_AUTH, ClientBase, NoCookies, check_size
from ._deadline import Until, keep_deadlines, until
from ._generated.resources import Resources
from ._page import ListRequest, Page
from ._response import ApiResponse
from ._settings import DEFAULT_MAX_RETRIES, DEFAULT_TIMEOUT_SECONDS, Settings, timeouts_of
from ._unexpected import anything
from ._values import NOT_GIVEN, NotGiven
from .webhooks import Webhooks

if TYPE_CHECKING:
    from typing_extensions import Self

P = ParamSpec("P")
T = TypeVar("T")


class Tranche(ClientBase, Resources):
    """
    The client. One is enough for a program; it may be used by many threads at once.

        client = Tranche(api_key="tr_live_…")
        project = client.projects.create(name="Website", client_id="acme")

    :param api_key: else the environment variable TRANCHE_API_KEY.
    :param base_url: the server; else TRANCHE_BASE_URL, else http://127.0.0.1:8080.
    :param timeout: seconds that one attempt may take; None for no limit.
    :param max_retries: how often a call is repeated that failed for a passing reason.
    :param headers: further headers for every request.
    :param http_client: an `httpx.Client` of your own, for proxies, certificates or tests; you close it.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | httpx.URL | None = None,
        timeout: float | None = DEFAULT_TIMEOUT_SECONDS,
        max_retries: int = DEFAULT_MAX_RETRIES,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        settings = Settings(api_key, base_url, timeout, max_retries, headers)
        self._http = httpx.Client(cookies=NoCookies()) if http_client is None else http_client
        keep_deadlines(self._http)
        self._owns_http = http_client is None
        ClientBase.__init__(self, settings, self._http)
        Resources.__init__(self, self)
        self.webhooks = Webhooks(self)

    def close(self) -> None:
        """Closes the connections. Not those of an HTTP client that was handed in."""
        if self._owns_http:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def with_response(self, method: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> tuple[T, ApiResponse]:
        """
        Makes one call and returns its result together with the HTTP response, even where the result is None.

            project, response = client.with_response(client.projects.retrieve, "prj_…")
            print(response.rate_limit.remaining)
        """
        box: list[ApiResponse] = []
        token = captured.set(box)
        try:
            result = method(*args, **kwargs)
        finally:
            captured.reset(token)
        return result, box[-1]

    def request(
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
        return self._call(
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

    def _call(self, call: Call[T]) -> T:
        attempts = Attempts(call, self._settings.max_retries)
        timeout = self._timeout_of(call)
        while True:
            try:
                response, content = self._attempt(call, timeout)
            except (httpx.RequestError, TimeoutError) as failure:
                pause = attempts.on_failure(failure)
            else:
                outcome = attempts.on_response(response, content)
                if not isinstance(outcome, Pause):
                    return outcome
                pause = outcome
            time.sleep(pause.seconds)

    def _attempt(self, call: Call[Any], timeout: float | None) -> tuple[httpx.Response, bytes]:
        limit = until(timeout)
        response = self._open(call, timeouts_of(limit))
        try:
            return response, self._content(response, limit)
        finally:
            response.close()

    def _open(self, call: Call[Any], timeouts: Mapping[str, float | None]) -> httpx.Response:
        request = self._request(call, timeouts)
        return self._http.send(request, stream=True, auth=NO_AUTH, follow_redirects=False)

    def _content(self, response: httpx.Response, limit: Until | None) -> bytes:
        chunks: list[bytes] = []
        size = 0
        for chunk in response.iter_bytes():
            size += len(chunk)
            check_size(size)
            chunks.append(chunk)
            if limit is not None:
                limit.left()
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _read_page(self, request: ListRequest[T]) -> Page[T]:
        def decode(values: Any) -> Page[T]:
            return Page(request, values, self._read_page)

        return self._call(Call("GET", request.path, decode=decode, query=request.query, **request.options))
