# The event log as it grows, as an iterator that outlives its connections, for the sync and the async client.
# Where it goes on and when it gives up is decided in _stream_progress.py; it keeps no event.

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Generator
from types import TracebackType
from typing import TYPE_CHECKING

import anyio
import httpx

from ._deadline import until
from ._errors import ApiConnectionError
from ._generated.models import Event
from ._stream_progress import Progress, StreamRequest

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._async_client import AsyncTranche
    from ._client import Tranche

# What ends a connection and is no answer; another connection may be luckier.
_DROPS = (httpx.RequestError, TimeoutError, ApiConnectionError)


class EventStream:
    """
    The events as they are committed, in order, each once. Made by `client.events.stream()`.

        with client.events.stream(after_seq=last_seq) as stream:
            for event in stream:
                print(event.seq, event.type)

    It connects when it is entered or first asked for an event, and again whenever the connection is lost. Leaving the
    `with`, `close()` and dropping it close the connection.
    """

    def __init__(self, client: Tranche, request: StreamRequest) -> None:
        self._client = client
        self._progress = Progress(request, client._settings)
        self._ahead: Event | None = None
        self._events = _walk(self._client, self._progress)

    @property
    def last_seq(self) -> int | None:
        """Up to where the log has been read, events of other kinds included; None before the server has told."""
        return self._progress.place if self._ahead is None else self._ahead.seq - 1

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        event, self._ahead = self._ahead, None
        while event is None:
            if self._progress.closed:
                self._events.close()
                raise StopIteration
            event = self._step()
        return event

    def _step(self) -> Event | None:
        try:
            return next(self._events)
        except StopIteration:
            # An interruption has ended the walk; the next one goes on where it was.
            self._events = _walk(self._client, self._progress)
            return None

    def close(self) -> None:
        """Ends the stream. Called from another thread, it ends with the next sign of life, after 15 s at most."""
        self._progress.closed = True
        try:
            self._events.close()
        except ValueError:
            # It is being read at this moment, and sees by itself that it is over.
            return

    def __enter__(self) -> Self:
        self._ahead = self._step()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncEventStream:
    """
    The events as they are committed, in order, each once. Made by `client.events.stream()`, without an `await`.

        async with client.events.stream(after_seq=last_seq) as stream:
            async for event in stream:
                print(event.seq, event.type)

    It connects when it is entered or first asked for an event, and again whenever the connection is lost. Leaving the
    `async with` and `close()` close the connection at once; one that is merely dropped is closed by the event loop.
    """

    def __init__(self, client: AsyncTranche, request: StreamRequest) -> None:
        self._client = client
        self._progress = Progress(request, client._settings)
        self._ahead: Event | None = None
        self._events = _walk_async(self._client, self._progress)

    @property
    def last_seq(self) -> int | None:
        """Up to where the log has been read, events of other kinds included; None before the server has told."""
        return self._progress.place if self._ahead is None else self._ahead.seq - 1

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        event, self._ahead = self._ahead, None
        while event is None:
            if self._progress.closed:
                await self._events.aclose()
                raise StopAsyncIteration
            event = await self._step()
        return event

    async def _step(self) -> Event | None:
        try:
            return await self._events.__anext__()
        except StopAsyncIteration:
            # A cancellation has ended the walk; the next one goes on where it was.
            self._events = _walk_async(self._client, self._progress)
            return None

    async def close(self) -> None:
        """Ends the stream. Called from another task, it ends with the next sign of life, after 15 s at most."""
        self._progress.closed = True
        try:
            await self._events.aclose()
        except RuntimeError:
            # It is being read at this moment, and sees by itself that it is over.
            return

    async def __aenter__(self) -> Self:
        self._ahead = await self._step()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


# The walks do not know the stream: one that is dropped then goes at once, and its walk and connection with it.


def _walk(client: Tranche, progress: Progress) -> Generator[Event | None, None, None]:
    while True:
        refusal: tuple[httpx.Response, bytes] | None = None
        try:
            response = client._open(progress.call(), progress.timeouts)
            try:
                if progress.accepts(response):
                    for chunk in response.iter_raw():
                        yield from progress.read(chunk)
                        if progress.closed:
                            return
                else:
                    refusal = response, client._content(response, until(progress.timeouts["connect"]))
            finally:
                response.close()
        except _DROPS as failure:
            pause = progress.on_failure(failure)
        else:
            pause = progress.on_end() if refusal is None else progress.on_refusal(*refusal)
        time.sleep(pause)
        if progress.closed:
            return


async def _walk_async(client: AsyncTranche, progress: Progress) -> AsyncGenerator[Event | None, None]:
    while True:
        refusal: tuple[httpx.Response, bytes] | None = None
        try:
            response = await client._open(progress.call(), progress.timeouts)
            try:
                if progress.accepts(response):
                    async for chunk in response.aiter_raw():
                        for event in progress.read(chunk):
                            yield event
                        if progress.closed:
                            return
                else:
                    with anyio.fail_after(progress.timeouts["connect"]):
                        refusal = response, await client._content(response)
            finally:
                await response.aclose()
        except _DROPS as failure:
            pause = progress.on_failure(failure)
        else:
            pause = progress.on_end() if refusal is None else progress.on_refusal(*refusal)
        await anyio.sleep(pause)
        if progress.closed:
            return
