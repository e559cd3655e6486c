# Notices that webhooks are missing and reads the events they would have told from the event log.
# Keeps only the highest number seen; storing it, and doing things once, is the program's own part.

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from ._generated.enums import EventType
from ._generated.models import Event
from ._webhook_envelope import WebhookEnvelope

if TYPE_CHECKING:
    from ._async_client import AsyncTranche
    from ._client import Tranche
    from ._generated.webhooks import WebhookEvent

PAGE_LIMIT = 100


@dataclass(frozen=True)
class Observation:
    """What a webhook says about those before it."""

    duplicate: bool
    """Whether this event, or a later one, was seen before: it was handled, or returned as missing."""
    missing: list[Event] = field(default_factory=list[Event])
    """The events before this one that did not arrive, oldest first. Handle them first."""


class _Gaps:
    """What both detectors have in common: what was seen, and what that means."""

    def __init__(self, last_seq: int | None, event_types: Iterable[EventType] | None) -> None:
        # The numbers begin at 1: who has seen 0 has seen nothing.
        self._last_seq = last_seq or None
        self._event_types = None if event_types is None else frozenset[str](event_types)

    @property
    def last_seq(self) -> int | None:
        """The highest `seq` seen. Store it with what you did, and hand it to the detector of the next start."""
        return self._last_seq

    def _is_duplicate(self, seq: int) -> bool:
        return self._last_seq is not None and seq <= self._last_seq

    def _begin_of_gap(self, prev_seq: int | None) -> int | None:
        """The number after which events are missing; None without a gap."""
        last = self._last_seq
        return last if last is not None and prev_seq is not None and prev_seq > last else None

    def _is_missing(self, event: Event) -> bool:
        return self._event_types is None or event.type in self._event_types


class GapDetector(_Gaps):
    """
    Notices webhooks that did not arrive. May be used by several threads.

        detector = client.webhooks.gap_detector(last_seq=stored)
        detector.process(event, handle)

    Webhooks can overtake each other; one that was handed on as missing and comes after all is a duplicate then.
    """

    def __init__(
        self, client: Tranche, last_seq: int | None = None, event_types: Iterable[EventType] | None = None
    ) -> None:
        super().__init__(last_seq, event_types)
        self._client = client
        self._lock = threading.Lock()

    def process(self, event: WebhookEvent, handle: Callable[[WebhookEvent], object]) -> None:
        """
        Hands on what is missing before a webhook, and then the webhook: oldest first, and each once.

        Takes note of each when `handle` returned. When it raises, that is passed on, and the same webhook, sent
        again, goes on from there. One webhook is processed at a time.
        """
        if event.seq is None:
            handle(event)
            return
        with self._lock:
            seen = self._look(event.seq, event.prev_seq)
            if seen.duplicate:
                return
            for missed in seen.missing:
                handle(self._client.webhooks.event_of(missed))
                self._last_seq = missed.seq
            handle(event)
            self._last_seq = event.seq

    def observe(self, event: WebhookEnvelope) -> Observation:
        """
        Takes note of a webhook and returns what is missing before it, read from `GET /v1/events`.

        From then on all of that counts as seen; `process` waits until it was handled.
        """
        return self.observe_seq(event.seq, event.prev_seq)

    def observe_seq(self, seq: int | None, prev_seq: int | None) -> Observation:
        """As `observe`, for the numbers of the headers alone. When it fails, nothing was taken note of."""
        if seq is None:
            return Observation(duplicate=False)
        # Held while reading, so that two webhooks at once do not both find the same gap.
        with self._lock:
            seen = self._look(seq, prev_seq)
            if not seen.duplicate:
                self._last_seq = seq
            return seen

    def _look(self, seq: int, prev_seq: int | None) -> Observation:
        """What a webhook means for the number seen last, which stays as it is."""
        if self._is_duplicate(seq):
            return Observation(duplicate=True)
        begin = self._begin_of_gap(prev_seq)
        missing: list[Event] = []
        if begin is not None:
            for event in self._client.events.list(after_seq=begin, limit=page_limit(begin, seq)):
                if event.seq >= seq:
                    break
                if self._is_missing(event):
                    missing.append(event)
        return Observation(duplicate=False, missing=missing)


class AsyncGapDetector(_Gaps):
    """Notices webhooks that did not arrive; as `GapDetector`, for many tasks of one event loop."""

    def __init__(
        self, client: AsyncTranche, last_seq: int | None = None, event_types: Iterable[EventType] | None = None
    ) -> None:
        super().__init__(last_seq, event_types)
        self._client = client
        self._lock = anyio.Lock()

    async def process(self, event: WebhookEvent, handle: Callable[[WebhookEvent], Awaitable[object]]) -> None:
        """Hands on what is missing before a webhook, and then the webhook; see `GapDetector.process`."""
        if event.seq is None:
            await handle(event)
            return
        async with self._lock:
            seen = await self._look(event.seq, event.prev_seq)
            if seen.duplicate:
                return
            for missed in seen.missing:
                await handle(self._client.webhooks.event_of(missed))
                self._last_seq = missed.seq
            await handle(event)
            self._last_seq = event.seq

    async def observe(self, event: WebhookEnvelope) -> Observation:
        """Takes note of a webhook and returns what is missing before it; see `GapDetector.observe`."""
        return await self.observe_seq(event.seq, event.prev_seq)

    async def observe_seq(self, seq: int | None, prev_seq: int | None) -> Observation:
        """As `observe`, for the numbers of the headers alone. When it fails, nothing was taken note of."""
        if seq is None:
            return Observation(duplicate=False)
        async with self._lock:
            seen = await self._look(seq, prev_seq)
            if not seen.duplicate:
                self._last_seq = seq
            return seen

    async def _look(self, seq: int, prev_seq: int | None) -> Observation:
        if self._is_duplicate(seq):
            return Observation(duplicate=True)
        begin = self._begin_of_gap(prev_seq)
        missing: list[Event] = []
        if begin is not None:
            async for event in self._client.events.list(after_seq=begin, limit=page_limit(begin, seq)):
                if event.seq >= seq:
                    break
                if self._is_missing(event):
                    missing.append(event)
        return Observation(duplicate=False, missing=missing)


def page_limit(begin: int, seq: int) -> int:
    """As many as lie between, as far as one page goes."""
    return min(seq - begin, PAGE_LIMIT)
