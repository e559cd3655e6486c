# Streams of events without a network: how bytes become events, when a stream connects again, when it gives up, and how it is closed.
# Each behaviour is tested with both clients.

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any

import anyio
import httpx
import pytest

import tranche
from stub import Answer, Both, Stub, both, problem
from tranche._sse import MAX_MESSAGE_BYTES, Message, SseParser
from tranche._stream_progress import SILENCE_SECONDS

__all__ = ["both"]

DROP = httpx.RemoteProtocolError("peer closed connection without sending complete message body")


def event(seq: int, **more: object) -> bytes:
    value: dict[str, object] = {
        "id": f"evt_{seq}",
        "object": "event",
        "seq": seq,
        "type": "payment.released",
        "created_at": "2026-03-21T08:00:00.000Z",
        "data": {},
        **more,
    }
    return f"id: {seq}\ndata: {json.dumps(value)}\n\n".encode()


class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The pieces of a connection, and how it ends: by itself, or with an error. Knows whether it was closed."""

    def __init__(self, pieces: Iterable[bytes], end: Exception | None) -> None:
        self._pieces = pieces
        self._end = end
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces
        if self._end is not None:
            raise self._end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
        if self._end is not None:
            raise self._end

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True


class Connections:
    """Makes the answers of a stub out of connections, and keeps these."""

    def __init__(self) -> None:
        self.bodies: list[Body] = []

    def __call__(
        self, *pieces: bytes, end: Exception | None = DROP, kind: str = "text/event-stream"
    ) -> Callable[[httpx.Request], httpx.Response]:
        def answer(request: httpx.Request) -> httpx.Response:
            self.bodies.append(Body(pieces, end))
            return httpx.Response(200, headers={"content-type": kind}, stream=self.bodies[-1])

        return answer

    @property
    def are_closed(self) -> bool:
        return all(body.closed for body in self.bodies)


@pytest.fixture
def connection() -> Connections:
    return Connections()


def take(both: Both, stub: Stub, count: int, settings: dict[str, Any] | None = None, **options: Any) -> list[int]:
    """The numbers of the first events; leaving the loop closes the stream."""

    def run(client: Any) -> Any:
        taken: list[int] = []
        if both.kind == "sync":
            with client.events.stream(**options) as stream:
                for one in stream:
                    assert isinstance(one, tranche.types.Event)
                    taken.append(one.seq)
                    if len(taken) == count:
                        break
            return taken

        async def run_async() -> list[int]:
            async with client.events.stream(**options) as stream:
                async for one in stream:
                    taken.append(one.seq)
                    if len(taken) == count:
                        break
            return taken

        return run_async()

    numbers: list[int] = both.call(stub, run, **(settings or {}))
    return numbers


TEXT = b"\xef\xbb\xbfretry: 2000\nid: 3\n\n: still here\n\nid: 4\r\ndata: {\r\ndata:  1}\r\n\r\ndata:\xe2\x82\xac\rid: a\rnew: x\rdata\r\r"
MESSAGES = [Message("3", None), Message("4", "{\n 1}"), Message("a", "€\n")]


@pytest.mark.parametrize("size", [1, 2, 3, 7, len(TEXT)])
def test_messages_are_the_same_however_the_bytes_are_cut(size: int) -> None:
    parser = SseParser()
    pieces = [TEXT[at : at + size] for at in range(0, len(TEXT), size)]
    assert [message for piece in pieces for message in parser.feed(piece)] == MESSAGES
    assert parser.retry_seconds == 2


def test_what_was_not_ended_has_not_come() -> None:
    parser = SseParser()
    assert parser.feed(b"id: 5\ndata: {}\n") == []
    assert parser.feed(b"") == []
    assert parser.feed(b"\n") == [Message("5", "{}")]


def test_fields_that_mean_nothing_here_are_passed_over() -> None:
    parser = SseParser()
    assert parser.feed(b"id: 1\0\nevent: x\nretry: soon\ndata: y\n\n") == [Message(None, "y")]
    assert parser.retry_seconds is None


@pytest.mark.parametrize("piece", [b"x" * 1000, b"data: " + b"x" * 1000 + b"\n", b"a: " + b"x" * 1000 + b"\n"])
def test_a_message_without_an_end_is_not_held_beyond_its_bound(piece: bytes) -> None:
    parser = SseParser()
    pieces = [piece] * (MAX_MESSAGE_BYTES // 1000 + 1)
    with pytest.raises(tranche.ApiConnectionError, match="larger"):
        list(map(parser.feed, pieces))


def test_any_number_of_signs_of_life_fits() -> None:
    parser = SseParser()
    for _ in range(MAX_MESSAGE_BYTES // 1000 + 1):
        assert parser.feed(b": " + b"x" * 1000 + b"\n") == []


def test_events_come_in_order_and_the_connection_is_closed_with_the_loop(both: Both, connection: Connections) -> None:
    stub = Stub([connection(b"retry: 2000\nid: 3\n\n", event(4) + event(5)[:20], event(5)[20:] + event(6))])
    assert take(both, stub, 2, after_seq=3, event_types=["payment.released", "invoice.issued"]) == [4, 5]
    (request,) = stub.requests
    assert dict(request.url.params) == {"after_seq": "3", "event_types": "payment.released,invoice.issued"}
    assert request.headers["accept"].startswith("text/event-stream")
    assert "last-event-id" not in request.headers
    assert request.extensions["timeout"] == {"connect": 30, "read": SILENCE_SECONDS, "write": 30, "pool": 30}
    assert connection.are_closed
    assert both.pauses == []


def test_a_drop_in_the_middle_of_an_event_neither_loses_nor_repeats_it(both: Both, connection: Connections) -> None:
    stub = Stub(
        [
            connection(b"id: 0\n\n", event(1), event(2)[:-1]),
            connection(b"id: 1\n\n", event(1), event(2), event(3), end=None),
            connection(b"id: 9\n\n", b": still here\n\n", end=httpx.ReadTimeout("silence")),
            connection(event(10)),
        ]
    )
    assert take(both, stub, 4, after_seq=0) == [1, 2, 3, 10]
    assert stub.headers("last-event-id") == [None, "1", "3", "9"]
    assert connection.are_closed


def test_the_pause_is_what_the_server_asks_for_or_grows(both: Both, connection: Connections) -> None:
    dropped = httpx.ConnectError("refused")
    stub = Stub([connection(b"retry: 2000\nid: 0\n\n"), dropped, dropped, dropped, dropped, connection(event(1))])
    assert take(both, stub, 1, {"max_retries": 4}) == [1]
    assert len(both.pauses) == 5
    assert all(2 <= pause <= 3 for pause in both.pauses[:4])
    assert both.pauses[4] >= 2

    both.pauses.clear()
    stub = Stub([dropped, dropped, dropped, connection(event(1))])
    assert take(both, stub, 1, max_retries=3) == [1]
    assert all(low / 2 <= pause <= low for low, pause in zip([0.5, 1, 2], both.pauses, strict=True))


def test_connections_in_vain_are_counted_in_a_row(both: Both, connection: Connections) -> None:
    refused = httpx.ConnectError("refused")
    busy = problem(503, "overloaded")
    rounds: list[list[Answer]] = [[busy, refused, connection(event(seq))] for seq in range(1, 6)]
    stub = Stub([answer for answers in rounds for answer in answers])
    assert take(both, stub, 5, max_retries=2) == [1, 2, 3, 4, 5]
    assert len(stub.requests) == 15


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx.ConnectError("refused"), tranche.ApiConnectionError),
        (httpx.ReadTimeout("silence"), tranche.ApiTimeoutError),
        (problem(503, "overloaded", retry_after="0"), tranche.OverloadedError),
        (problem(429, "too_many_streams", retry_after="1"), tranche.TooManyStreamsError),
        (problem(500, "internal_error"), tranche.InternalError),
    ],
    ids=str,
)
def test_it_gives_up_after_as_many_retries_as_other_calls(
    both: Both, answer: Exception | httpx.Response, kind: type[Exception]
) -> None:
    stub = Stub([answer])
    with pytest.raises(kind) as caught:
        take(both, stub, 1)
    assert type(caught.value) is kind
    assert len(stub.requests) == 3


def test_streams_that_bring_nothing_do_not_go_on_for_ever(both: Both, connection: Connections) -> None:
    broken: Sequence[Any] = [
        connection(b"id: 0\n\n", end=None),
        connection(b"data: [1]\n\n"),
        connection(b"data: {\n\n"),
        connection(b"data: " + b"x" * MAX_MESSAGE_BYTES),
        connection(b"<h1>Hello</h1>", kind="text/html"),
    ]
    for answer in broken:
        stub = Stub([connection(event(1)), answer])
        with pytest.raises(tranche.ApiConnectionError):
            take(both, stub, 2, max_retries=1)
        assert len(stub.requests) == 3
    assert connection.are_closed


def test_a_quiet_stream_that_is_cut_now_and_then_is_no_failure(
    both: Both, connection: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tranche._stream_progress.HEARTBEAT_SECONDS", 0)
    stub = Stub([connection(b"id: 0\n\n")] * 9 + [connection(event(1))])
    assert take(both, stub, 1, max_retries=0) == [1]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (problem(401, "api_key_revoked"), tranche.ApiKeyRevokedError),
        (problem(403, "insufficient_scope"), tranche.InsufficientScopeError),
        (problem(422, "validation_failed"), tranche.ValidationFailedError),
        (problem(429, "rate_limited", retry_after="61"), tranche.RateLimitedError),
    ],
    ids=str,
)
def test_a_refusal_is_raised_at_once_at_first_and_later(
    both: Both, connection: Connections, answer: httpx.Response, kind: type[Exception]
) -> None:
    for before in ([], [connection(event(1))]):
        stub = Stub([*before, answer])
        with pytest.raises(kind):
            take(both, stub, 2)
        assert len(stub.requests) == len(before) + 1
    assert connection.are_closed


def test_the_stream_tells_how_far_it_has_come(both: Both, connection: Connections) -> None:
    stub = Stub([connection(b"id: 3\n\n" + event(4) + event(6)), connection(b"id: 8\n\n", event(9))])

    def run(client: Any) -> Any:
        stream = client.events.stream()
        told = [stream.last_seq]
        if both.kind == "sync":
            with stream:
                told.append(stream.last_seq)
                told.extend(stream.last_seq for _ in range(3) if next(stream))
            assert list(stream) == []
            return told

        async def run_async() -> list[int | None]:
            async with stream:
                told.append(stream.last_seq)
                for _ in range(3):
                    await stream.__anext__()
                    told.append(stream.last_seq)
            assert [one async for one in stream] == []
            return told

        return run_async()

    assert both.call(stub, run) == [None, 3, 4, 6, 9]
    assert len(stub.requests) == 2


def test_dropping_a_sync_stream_and_closing_one_twice_closes_its_connection(connection: Connections) -> None:
    http = httpx.Client(transport=Stub([connection(event(1), event(2))]))
    with tranche.Tranche("k", http_client=http) as client:
        for _ in client.events.stream():
            break
        assert connection.are_closed
        stream = client.events.stream()
        assert next(stream).seq == 1
        stream.close()
        stream.close()
        assert list(stream) == []
        unused = client.events.stream()
        unused.close()
        assert list(unused) == []
    assert len(connection.bodies) == 2
    assert connection.are_closed


def test_a_message_that_is_no_event_is_not_kept_in_the_chain_of_its_error(both: Both, connection: Connections) -> None:
    for data in (b'{"secret":"topsecret"', b'["topsecret"]', b'"topsecret"', b'{"seq":"topsecret"}'):
        stub = Stub([connection(b"id: 1\ndata: " + data + b"\n\n")])
        with pytest.raises(tranche.TrancheError) as caught:
            both.walk(stub, lambda client: client.events.stream(max_retries=0))
        error: BaseException | None = caught.value
        while error is not None:
            assert "topsecret" not in str(error) + str(getattr(error, "doc", ""))
            error = error.__cause__ or error.__context__


def test_a_wait_that_is_cancelled_ends_the_connection_and_loses_nothing() -> None:
    ends: list[bool] = []

    class Quiet(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield event(1)
            await anyio.sleep_forever()

        async def aclose(self) -> None:
            ends.append(True)

    def quiet(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Quiet())

    stub = Stub([quiet, Connections()(event(2))])

    async def run() -> None:
        http = httpx.AsyncClient(transport=stub)
        async with tranche.AsyncTranche("k", http_client=http) as client, client.events.stream() as stream:
            assert (await stream.__anext__()).seq == 1
            with anyio.move_on_after(0.05) as scope:
                await stream.__anext__()
            assert scope.cancelled_caught
            assert ends == [True]
            assert (await stream.__anext__()).seq == 2
        assert stub.headers("last-event-id") == [None, "1"]

    anyio.run(run)
