# Where a stream of events stands: what the next connection asks for, what is handed on, and when to give up.
# Shared by the sync and the async client, so that both behave alike; it neither sends nor sleeps.

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import random
from typing import Any, cast

import httpx

from ._call import Call, connection_error, error_of
from ._errors import ApiConnectionError
from ._generated.models import Event
from ._response import ApiResponse
from ._retry import (
    LONGEST_RETRY_AFTER_SECONDS,
    is_retried_failure,
    is_retried_status,
    pause_seconds,
    retry_after_seconds,
)
from ._settings import Settings
from ._sse import SseParser
from ._unexpected import nothing
from ._values import NOT_GIVEN, NotGiven

logger = logging.getLogger("tranche")

HEARTBEAT_SECONDS = 15.0
"""How often the server gives a sign of life when it has no event to send."""

SILENCE_SECONDS = 3 * HEARTBEAT_SECONDS
"""After how long without one a connection is taken for dead."""

_HEADERS = {
    "accept": "text/event-stream, application/problem+json",
    # What compresses a stream holds it back.
    "accept-encoding": "identity",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class StreamRequest:
    """What a stream was asked for."""

    path: str
    query: Mapping[str, object]
    headers: Mapping[str, str] | None
    timeout: float | NotGiven | None
    max_retries: int | None


class Progress:
    """How far one stream has come, over all its connections."""

    def __init__(self, request: StreamRequest, settings: Settings) -> None:
        self._request = request
        self._query = {name: _joined(value) for name, value in request.query.items()}
        self._max_retries = settings.max_retries if request.max_retries is None else request.max_retries
        silence = SILENCE_SECONDS if isinstance(request.timeout, NotGiven) else request.timeout
        self.timeouts = {
            "connect": settings.timeout,
            "read": silence,
            "write": settings.timeout,
            "pool": settings.timeout,
        }
        self.place: int | None = None
        """The `seq` up to which everything was handed on."""
        self.closed = False
        """Whether the program has had enough."""
        self._failures = 0
        self._retry_seconds = 0.0
        self._begin()

    def _begin(self) -> None:
        self._parser = SseParser()
        self._opened_at: float | None = None
        self._began_at_place = self.place

    def call(self) -> Call[None]:
        """The request of the next connection."""
        self._begin()
        given = {name.lower(): value for name, value in (self._request.headers or {}).items()}
        headers = {**_HEADERS, **given}
        if self.place is not None:
            headers["last-event-id"] = str(self.place)
        return Call("GET", self._request.path, decode=nothing, query=self._query, headers=headers)

    def accepts(self, response: httpx.Response) -> bool:
        """Whether this is the stream; else it is a refusal. Raises when it is neither."""
        if not response.is_success:
            return False
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            raise ApiConnectionError("The answer is not an event stream.")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ApiConnectionError("The event stream is compressed, which was not asked for.")
        self._opened_at = time.monotonic()
        return True

    def read(self, chunk: bytes) -> Iterator[Event | None]:
        """The events that this piece completes; None for a message that only moves the place on."""
        for message in self._parser.feed(chunk):
            if message.data is None:
                self._move(message.id)
                yield None
                continue
            event = _event_of(message.data)
            # The server does not send one again; what stands between may.
            if self.place is None or event.seq > self.place:
                self.place = event.seq
                yield event

    def _move(self, place: str | None) -> None:
        if place is not None and place.isascii() and place.isdigit() and len(place) < 20:
            self.place = max(int(place), self.place or 0)

    def on_refusal(self, response: httpx.Response, content: bytes) -> float:
        """The pause after an answer that is an error. Raises when another attempt would be in vain."""
        error = error_of(ApiResponse(response.status_code, response.headers, content, self._failures + 1))
        if not is_retried_status(response.status_code):
            raise error
        return self._pause_or_raise(error, None, retry_after_seconds(response.headers))

    def on_failure(self, failure: Exception) -> float:
        """The pause after a connection that broke or never was. Raises when there were too many in a row."""
        error = failure if isinstance(failure, ApiConnectionError) else connection_error(failure)
        if isinstance(failure, httpx.RequestError) and not is_retried_failure(failure):
            raise error from failure
        return self._pause_or_raise(error, None if error is failure else failure)

    def on_end(self) -> float:
        """The pause after a connection that the server ended. Raises when there were too many in a row."""
        return self._pause_or_raise(ApiConnectionError("The server ended the stream."), None)

    def _pause_or_raise(self, error: Exception, cause: Exception | None, retry_after: float | None = None) -> float:
        if self._parser.retry_seconds is not None:
            self._retry_seconds = min(self._parser.retry_seconds, LONGEST_RETRY_AFTER_SECONDS)
        self._failures = 0 if self._has_progressed() else self._failures + 1
        pause = None
        if self._failures <= self._max_retries:
            pause = pause_seconds(max(self._failures - 1, 0), retry_after, random)
        if pause is None:
            self._failures = 0
            raise error from cause
        pause = max(pause, self._retry_seconds * (1 + random() / 2))
        logger.info("GET %s: connection lost, next in %.2f s: %s", self._request.path, pause, error)
        return pause

    def _has_progressed(self) -> bool:
        # A quiet log is no failure: a connection that was open for a while has done its work.
        opened = self._opened_at
        return self.place != self._began_at_place or (
            opened is not None and time.monotonic() - opened >= HEARTBEAT_SECONDS
        )


def _joined(value: object) -> object:
    """The API takes lists in a query with commas between."""
    if value is NOT_GIVEN or value is None or isinstance(value, (str, int)):
        return value
    return ",".join(cast("list[str]", value))


def _event_of(data: str) -> Event:
    try:
        values: Any = json.loads(data)
        event = Event._adopt(values) if isinstance(values["seq"], int) else None
    except (AttributeError, KeyError, TypeError, ValueError):
        # Not chained: the failure would keep the message.
        event = None
    if event is None:
        raise ApiConnectionError("A message of the stream is not an event.")
    return event
