# Against real sockets of this process: a server that dribbles, many threads on one client, trio, and cancellation.

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anyio
import httpx
import pytest

import tranche
from stub import API_KEY, PROJECT

DRIBBLE_SECONDS = 0.1
BODY = json.dumps(PROJECT).encode()


class Handler(BaseHTTPRequestHandler):
    """Answers a project; under prj_slow its body one byte at a time, for about half a minute, under prj_headers the headers."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.endswith("prj_headers"):
            self.dribble(b"HTTP/1.1 200 OK\r\n" + b"x-a: y\r\n" * 40)
            return
        self.send_response(200)
        self.send_header("content-length", str(len(BODY)))
        self.end_headers()
        if not self.path.endswith("prj_slow"):
            self.wfile.write(BODY)
            return
        self.dribble(BODY)

    def dribble(self, text: bytes) -> None:
        try:
            for byte in text:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(DRIBBLE_SECONDS)
        except OSError:
            # The client has gone, as it should.
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: what is on the screen belongs to the tests."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_a_body_that_dribbles_cannot_outlast_the_timeout(address: str) -> None:
    # Each read is quick; only their sum is too long.
    with tranche.Tranche(API_KEY, base_url=address, timeout=0.5, max_retries=0) as client:
        began = time.monotonic()
        with pytest.raises(tranche.ApiTimeoutError):
            client.projects.retrieve("prj_slow")
        assert 0.4 < time.monotonic() - began < 2
        assert client.projects.retrieve("prj_1").name == "New website"


@pytest.mark.parametrize("handed_in", [False, True])
def test_headers_that_dribble_cannot_outlast_the_timeout(address: str, handed_in: bool) -> None:
    http = httpx.Client() if handed_in else None
    with tranche.Tranche(API_KEY, base_url=address, timeout=0.5, max_retries=0, http_client=http) as client:
        # The connection is there already, as in most calls.
        assert client.projects.retrieve("prj_1").name == "New website"
        for _ in range(2):
            began = time.monotonic()
            with pytest.raises(tranche.ApiTimeoutError):
                client.projects.retrieve("prj_headers")
            assert 0.4 < time.monotonic() - began < 2
        assert client.projects.retrieve("prj_1", timeout=None).name == "New website"
    if http is not None:
        http.close()


def test_a_client_that_was_handed_in_keeps_its_own_timeouts_elsewhere(address: str) -> None:
    with httpx.Client(timeout=0.5) as http:
        with tranche.Tranche(API_KEY, base_url=address, timeout=30, http_client=http) as client:
            client.projects.retrieve("prj_1")
        assert http.get(address + "/prj_1").json()["name"] == "New website"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_async_client_times_out_and_goes_on_under_both_event_loops(address: str, backend: str) -> None:
    async def run() -> None:
        async with tranche.AsyncTranche(API_KEY, base_url=address, timeout=0.5, max_retries=0) as client:
            began = time.monotonic()
            with pytest.raises(tranche.ApiTimeoutError):
                await client.projects.retrieve("prj_slow")
            assert 0.4 < time.monotonic() - began < 2
            assert (await client.projects.retrieve("prj_1")).name == "New website"

    anyio.run(run, backend=backend)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_cancelled_task_ends_the_call_and_its_retries_at_once(address: str, backend: str) -> None:
    async def run() -> None:
        async with tranche.AsyncTranche(API_KEY, base_url=address) as client:
            began = time.monotonic()
            with anyio.move_on_after(0.3) as scope:
                await client.projects.retrieve("prj_slow")
            assert scope.cancelled_caught
        with closed_port() as port:
            async with tranche.AsyncTranche(API_KEY, base_url=f"http://127.0.0.1:{port}", max_retries=9) as client:
                with anyio.move_on_after(0.3) as scope:
                    await client.projects.retrieve("prj_1")
                assert scope.cancelled_caught
        assert time.monotonic() - began < 2

    anyio.run(run, backend=backend)


def test_one_client_serves_many_threads(address: str) -> None:
    with tranche.Tranche(API_KEY, base_url=address) as client, ThreadPoolExecutor(16) as pool:
        names = [project.name for project in pool.map(client.projects.retrieve, ["prj_1"] * 200)]
    assert names == ["New website"] * 200


def test_nobody_there_is_a_connection_error() -> None:
    with closed_port() as port, tranche.Tranche(API_KEY, base_url=f"http://127.0.0.1:{port}", max_retries=0) as client:
        with pytest.raises(tranche.ApiConnectionError) as caught:
            client.projects.retrieve("prj_1")
        assert type(caught.value) is tranche.ApiConnectionError


class closed_port:  # noqa: N801
    """A port at which nobody listens, and nobody else can meanwhile."""

    def __enter__(self) -> int:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        port: int = self._socket.getsockname()[1]
        return port

    def __exit__(self, *_: object) -> None:
        self._socket.close()
