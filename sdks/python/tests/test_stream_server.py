# Streams of events on the real server, through the proxy that breaks them: whatever happens to connections, no event is lost or repeated.
# Also real sockets: that closing a stream ends its connection at the server.

from __future__ import annotations

import os
import random
import secrets
import threading
from collections.abc import Iterator

import anyio
import httpx
import pytest

import tranche
from conftest import key_of_its_own

EVENTS = 40
LIMIT_SECONDS = 60
STREAMS_PER_KEY = 20


@pytest.fixture
def control(server: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    monkeypatch.setattr("tranche._retry.FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("tranche._retry.LONGEST_PAUSE_SECONDS", 0.05)
    # The server asks for two seconds; obeying it is tested without a server.
    monkeypatch.setattr("tranche._stream_progress.LONGEST_RETRY_AFTER_SECONDS", 0.05)
    with key_of_its_own(), httpx.Client(base_url=os.environ["TRANCHE_CONTROL_URL"], timeout=40) as client:
        client.post("/reset").raise_for_status()
        yield client
        client.post("/reset").raise_for_status()


def spoil(control: httpx.Client) -> None:
    """Breaks the next connections: some in the middle of an event, some before a byte, some with an error in their place."""
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(12):
        fault: dict[str, object] = chance.choice(
            [
                {"fault": "truncate", "after_bytes": chance.randrange(1, 1000)},
                {"fault": "truncate", "after_bytes": chance.randrange(1, 1000)},
                {"fault": "drop_before"},
                {"fault": "answer_before", "status": 503, "headers": {"retry-after": "0"}, "text": "busy"},
            ]
        )
        control.post("/faults", json={**fault, "method": "GET"}).raise_for_status()


def make(name: str) -> None:
    with tranche.Tranche() as direct:
        for number in range(EVENTS):
            direct.projects.create(name=f"{name} {number}", client_id="stream")


def head() -> int:
    with tranche.Tranche() as direct, direct.events.stream() as stream:
        assert stream.last_seq is not None
        return stream.last_seq


def truth(after_seq: int) -> list[int]:
    with tranche.Tranche() as direct:
        return [event.seq for event in direct.events.list(after_seq=after_seq, limit=100)]


def streamed_requests(control: httpx.Client) -> int:
    return len(control.get("/exchanges").json()["exchanges"])


def test_the_sync_stream_has_no_gap_and_no_repeat_whatever_breaks(control: httpx.Client) -> None:
    begin = head()
    make("before")
    spoil(control)
    seen: list[int] = []
    writer = threading.Thread(target=make, args=("during",))
    with (
        tranche.Tranche(base_url=os.environ["TRANCHE_PROXY_URL"]) as client,
        client.events.stream(after_seq=begin, max_retries=20) as stream,
    ):
        writer.start()
        for event in stream:
            seen.append(event.seq)
            if len(seen) % 15 == 0:
                control.post("/cut").raise_for_status()
            if len(seen) == 2 * EVENTS:
                break
    writer.join()
    assert seen == truth(begin)[: len(seen)]
    assert streamed_requests(control) > 12


# Under trio httpx leaves the generators inside a response to the garbage collection; the connection itself is closed in time.
@pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning")
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_async_stream_has_no_gap_and_no_repeat_whatever_breaks(control: httpx.Client, backend: str) -> None:
    begin = head()
    make("before")
    spoil(control)
    seen: list[int] = []

    async def run() -> None:
        with anyio.fail_after(LIMIT_SECONDS):
            async with (
                tranche.AsyncTranche(base_url=os.environ["TRANCHE_PROXY_URL"]) as client,
                client.events.stream(after_seq=begin, max_retries=20) as stream,
                anyio.create_task_group() as group,
            ):
                group.start_soon(anyio.to_thread.run_sync, make, "during")
                async for event in stream:
                    seen.append(event.seq)
                    if len(seen) % 15 == 0:
                        await anyio.to_thread.run_sync(control.post, "/cut")
                    if len(seen) == 2 * EVENTS:
                        break

    anyio.run(run, backend=backend)
    assert seen == truth(begin)[: len(seen)]
    assert streamed_requests(control) > 12


def test_entering_a_stream_marks_the_place_where_it_begins(control: httpx.Client) -> None:
    with tranche.Tranche() as client, client.events.stream(event_types=["milestone.created"]) as stream:
        project = client.projects.create(name="Streamed", client_id="s", milestones=[{"title": "T", "amount": 700}])
        event = next(stream)
        assert event.type == "milestone.created"
        assert event.data["projectId"] == project.id
        assert stream.last_seq == event.seq


def test_a_closed_stream_makes_room_at_the_server(control: httpx.Client) -> None:
    with tranche.Tranche(max_retries=0) as client:
        open_streams = [client.events.stream() for _ in range(STREAMS_PER_KEY)]
        for stream in open_streams:
            stream.__enter__()
        with pytest.raises(tranche.TooManyStreamsError), client.events.stream():
            pass
        for stream in open_streams:
            stream.close()
        # The server sees the end of a connection a moment later; the retries are for that.
        with client.events.stream(max_retries=20) as stream:
            assert stream.last_seq is not None


def test_a_revoked_key_ends_the_stream_with_the_error(control: httpx.Client) -> None:
    with tranche.Tranche() as direct:
        key = direct.api_keys.create(name="Streaming", scopes=["events:read"])
        with tranche.Tranche(key.secret) as client, client.events.stream() as stream:
            direct.api_keys.revoke(key.id)
            with pytest.raises(tranche.ApiKeyRevokedError):
                next(stream)
        other = direct.api_keys.create(name="Not streaming", scopes=["projects:read"])
        with (
            tranche.Tranche(other.secret) as client,
            pytest.raises(tranche.InsufficientScopeError),
            client.events.stream(),
        ):
            pass
        with pytest.raises(tranche.ValidationFailedError), direct.events.stream(after_seq=-1):
            pass


def test_a_stream_can_be_closed_while_another_thread_waits_on_it(control: httpx.Client) -> None:
    with tranche.Tranche() as client:
        stream = client.events.stream()
        seen: list[int] = []
        with stream:
            reader = threading.Thread(target=lambda: seen.extend(event.seq for event in stream))
            reader.start()
            client.projects.create(name="Seen", client_id="s")
            while not seen:
                reader.join(0.02)
            stream.close()
            # Any sign of life will do; without this one it would be the heartbeat.
            client.projects.create(name="A sign of life", client_id="s")
            reader.join(LIMIT_SECONDS)
            assert not reader.is_alive()
