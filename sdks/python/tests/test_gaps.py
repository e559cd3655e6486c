# The gap detectors: what counts as missing, as a duplicate, and what a failed look-up leaves behind.

from __future__ import annotations

import dataclasses
from typing import Any

import anyio
import httpx
import pytest

import tranche
from stub import API_KEY, Both, Stub, both, ok, problem
from tranche.types import UnknownWebhook, WebhookEvent

__all__ = ["both"]


def log(request: httpx.Request) -> httpx.Response:
    """An event log of ten, in pages of three; each third is an invoice."""
    after = int(request.url.params.get("after_seq", "0"))
    events: list[dict[str, Any]] = [
        {
            "id": f"evt_{seq}",
            "object": "event",
            "seq": seq,
            "type": "invoice.issued" if seq % 3 == 0 else "payment.released",
            "created_at": "2026-03-21T08:00:00.000Z",
            "data": {},
        }
        for seq in range(after + 1, min(after + 3, 10) + 1)
    ]
    more = after + 3 < 10
    return ok({"object": "list", "data": events, "has_more": more, "next_cursor": str(after + 3) if more else None})


def observe(both: Both, stub: Stub, numbers: list[tuple[int | None, int | None]], **settings: Any) -> list[Any]:
    """What a new detector says of the deliveries: None for a duplicate, else the numbers that are missing."""

    def told(one: tranche.Observation) -> list[int] | None:
        return None if one.duplicate else [event.seq for event in one.missing]

    def run(client: Any) -> Any:
        detector = client.webhooks.gap_detector(**settings)
        if both.kind == "sync":
            return [told(detector.observe_seq(seq, prev)) for seq, prev in numbers]

        async def run_async() -> list[Any]:
            return [told(await detector.observe_seq(seq, prev)) for seq, prev in numbers]

        return run_async()

    result: list[Any] = both.call(stub, run)
    return result


def test_deliveries_in_order_ask_nothing_of_the_server(both: Both) -> None:
    stub = Stub([log])
    assert observe(both, stub, [(1, None), (2, 1), (5, 2)]) == [[], [], []]
    assert stub.requests == []


def test_a_gap_is_read_over_as_many_pages_as_it_takes(both: Both) -> None:
    stub = Stub([log])
    assert observe(both, stub, [(9, 8)], last_seq=1) == [[2, 3, 4, 5, 6, 7, 8]]
    assert [request.url.params["after_seq"] for request in stub.requests] == ["1", "4", "7"]


def test_only_the_kinds_of_the_endpoint_count(both: Both) -> None:
    assert observe(both, Stub([log]), [(9, 8)], last_seq=1, event_types=["payment.released"]) == [[2, 4, 5, 7, 8]]


def test_what_came_late_or_twice_is_a_duplicate(both: Both) -> None:
    assert observe(both, Stub([log]), [(5, 4), (4, 1), (5, 4), (6, 5)], last_seq=3) == [[4], None, None, []]


def test_a_first_delivery_and_a_test_event_have_no_gap(both: Both) -> None:
    stub = Stub([log])
    assert observe(both, stub, [(None, None), (7, 3), (None, None), (8, 7)]) == [[], [], [], []]
    assert stub.requests == []


def test_zero_is_the_same_as_no_number_seen_since_numbers_begin_at_one(both: Both) -> None:
    stub = Stub([log])
    assert observe(both, stub, [(7, 3), (8, 7)], last_seq=0) == [[], []]
    assert stub.requests == []


def test_a_failed_look_up_takes_note_of_nothing(both: Both) -> None:
    stub = Stub([problem(403, "insufficient_scope"), log])
    with pytest.raises(tranche.InsufficientScopeError):
        observe(both, stub, [(5, 4)], last_seq=3)
    assert observe(both, stub, [(5, 4)], last_seq=3) == [[4]]


def test_deliveries_at_the_same_time_fill_a_gap_once() -> None:
    http = httpx.AsyncClient(transport=Stub([log]))
    missing: list[int] = []

    async def run() -> int | None:
        async with tranche.AsyncTranche(API_KEY, http_client=http) as client:
            detector = client.webhooks.gap_detector(last_seq=1)

            async def one(seq: int) -> None:
                event = UnknownWebhook(id=f"evt_{seq}", timestamp=1, seq=seq, prev_seq=seq - 1, event="x", data={})
                missing.extend(event.seq for event in (await detector.observe(event)).missing)

            async with anyio.create_task_group() as group:
                for seq in (7, 8, 6):
                    group.start_soon(one, seq)
            return detector.last_seq

    assert anyio.run(run) == 8
    assert len(set(missing)) == len(missing)
    assert {2, 3, 4, 5} <= set(missing)


def test_what_a_handler_did_not_finish_comes_again_and_nothing_comes_twice(both: Both) -> None:
    handled: list[int | None] = []
    event = UnknownWebhook(id="evt_6", timestamp=1, seq=6, prev_seq=5, event="x", data={})

    def handle(one: WebhookEvent) -> None:
        if one.seq == 5 and handled.count(5) == 0 and accidents:
            raise accidents.pop()
        handled.append(one.seq)

    async def handle_async(one: WebhookEvent) -> None:
        handle(one)

    accidents = [RuntimeError("the books are closed")]

    def run(client: Any) -> Any:
        detector = client.webhooks.gap_detector(last_seq=3)
        if both.kind == "sync":
            with pytest.raises(RuntimeError):
                detector.process(event, handle)
            detector.process(event, handle)
            detector.process(event, handle)
            detector.process(dataclasses.replace(event, seq=None), handle)
            return detector.last_seq

        async def run_async() -> int | None:
            with pytest.raises(RuntimeError):
                await detector.process(event, handle_async)
            await detector.process(event, handle_async)
            await detector.process(event, handle_async)
            await detector.process(dataclasses.replace(event, seq=None), handle_async)
            last_seq: int | None = detector.last_seq
            return last_seq

        return run_async()

    assert both.call(Stub([log]), run) == 6
    assert handled == [4, 5, 6, None]
