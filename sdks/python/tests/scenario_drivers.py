# How the steps of the shared scenario reach the client: once through Tranche, once through AsyncTranche.
# Both offer the same blocking methods to the runner; neither knows what a step expects.

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol

import anyio
import anyio.from_thread

import tranche
from tranche.types import ApiResponse, Event

Settings = tuple[tuple[str, Any], ...]


class Cancelled(Exception):
    """The caller's cancellation went through the client as it should."""


class Driver(Protocol):
    """What the runner needs of a client."""

    def call(
        self, settings: Settings, resource: str, method: str, args: list[str], kwargs: dict[str, Any]
    ) -> tuple[Any, ApiResponse]: ...

    def cancelled_call(
        self, settings: Settings, resource: str, method: str, args: list[str], kwargs: dict[str, Any], seconds: float
    ) -> None: ...

    def walk(
        self, settings: Settings, resource: str, method: str, args: list[str], kwargs: dict[str, Any], limit: int | None
    ) -> list[Any]: ...

    def observe(
        self, last_seq: int | None, event_types: list[Any] | None, numbers: list[tuple[int | None, int | None]]
    ) -> list[tuple[bool, list[Event]]]: ...

    def close(self) -> None: ...


class SyncDriver:
    """Steps through Tranche."""

    def __init__(self) -> None:
        self._clients: dict[Settings, tranche.Tranche] = {}
        self._lock = threading.Lock()

    def _client(self, settings: Settings) -> tranche.Tranche:
        with self._lock:
            if settings not in self._clients:
                self._clients[settings] = tranche.Tranche(**dict(settings))
            return self._clients[settings]

    def call(
        self, settings: Settings, resource: str, method: str, args: list[str], kwargs: dict[str, Any]
    ) -> tuple[Any, ApiResponse]:
        client = self._client(settings)
        operation: Callable[..., Any] = getattr(getattr(client, resource), method)
        return client.with_response(operation, *args, **kwargs)

    def cancelled_call(
        self, settings: Settings, resource: str, method: str, args: list[str], kwargs: dict[str, Any], seconds: float
    ) -> None:
        # What cancels blocking Python is an exception out of a signal handler, as Ctrl-C does it.
        began = time.monotonic()
        try:
            with _interruption_after(seconds):
                self.call(settings, resource, method, args, kwargs)
        except KeyboardInterrupt:
            assert time.monotonic() - began < seconds + 0.5
            raise Cancelled from None

    def walk(
        self, settings: Settings, resource: str, method: str, args: list[str], kwargs: dict[str, Any], limit: int | None
    ) -> list[Any]:
        items: list[Any] = []
        for item in getattr(getattr(self._client(settings), resource), method)(*args, **kwargs):
            items.append(item)
            if len(items) == limit:
                break
        return items

    def observe(
        self, last_seq: int | None, event_types: list[Any] | None, numbers: list[tuple[int | None, int | None]]
    ) -> list[tuple[bool, list[Event]]]:
        detector = self._client(()).webhooks.gap_detector(last_seq=last_seq, event_types=event_types)
        seen = [detector.observe_seq(seq, prev_seq) for seq, prev_seq in numbers]
        return [(one.duplicate, one.missing) for one in seen]

    def close(self) -> None:
        for client in self._clients.values():
            client.close()


@contextmanager
def _interruption_after(seconds: float) -> Generator[None, None, None]:
    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class AsyncDriver:
    """Steps through AsyncTranche, on an event loop in a thread of its own."""

    def __init__(self) -> None:
        self._clients: dict[Settings, tranche.AsyncTranche] = {}
        self._lock = threading.Lock()
        self._manager = anyio.from_thread.start_blocking_portal("asyncio")
        self._portal = self._manager.__enter__()

    def _client(self, settings: Settings) -> tranche.AsyncTranche:
        with self._lock:
            if settings not in self._clients:
                self._clients[settings] = tranche.AsyncTranche(**dict(settings))
            return self._clients[settings]

    def call(
        self, settings: Settings, resource: str, method: str, args: list[str], kwargs: dict[str, Any]
    ) -> tuple[Any, ApiResponse]:
        async def run() -> tuple[Any, ApiResponse]:
            client = self._client(settings)
            operation: Callable[..., Any] = getattr(getattr(client, resource), method)
            return await client.with_response(operation, *args, **kwargs)

        result: tuple[Any, ApiResponse] = self._portal.call(run)
        return result

    def cancelled_call(
        self, settings: Settings, resource: str, method: str, args: list[str], kwargs: dict[str, Any], seconds: float
    ) -> None:
        async def run() -> bool:
            with anyio.move_on_after(seconds) as scope:
                await getattr(getattr(self._client(settings), resource), method)(*args, **kwargs)
            return scope.cancelled_caught

        if self._portal.call(run):
            raise Cancelled

    def walk(
        self, settings: Settings, resource: str, method: str, args: list[str], kwargs: dict[str, Any], limit: int | None
    ) -> list[Any]:
        async def run() -> list[Any]:
            items: list[Any] = []
            async for item in getattr(getattr(self._client(settings), resource), method)(*args, **kwargs):
                items.append(item)
                if len(items) == limit:
                    break
            return items

        return self._portal.call(run)

    def observe(
        self, last_seq: int | None, event_types: list[Any] | None, numbers: list[tuple[int | None, int | None]]
    ) -> list[tuple[bool, list[Event]]]:
        async def run() -> list[tuple[bool, list[Event]]]:
            detector = self._client(()).webhooks.gap_detector(last_seq=last_seq, event_types=event_types)
            seen = [await detector.observe_seq(seq, prev_seq) for seq, prev_seq in numbers]
            return [(one.duplicate, one.missing) for one in seen]

        return self._portal.call(run)

    def close(self) -> None:
        async def run() -> None:
            for client in self._clients.values():
                await client.close()

        self._portal.call(run)
        self._manager.__exit__(None, None, None)
