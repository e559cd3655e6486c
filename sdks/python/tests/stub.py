# A server of functions: a transport for httpx that answers from a list and remembers the requests. Opens no socket.
# Also runs one and the same test through both clients.

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import anyio
import httpx
import pytest

import tranche

API_KEY = "tr_live_TESTTESTTESTTESTTESTTESTTESTTEST000000"

PROJECT: dict[str, Any] = {
    "id": "prj_01k4y5n3r0e008000000000001",
    "object": "project",
    "name": "New website",
    "client_id": "client_42",
    "payee_id": None,
    "currency": "USD",
    "release": "on_approval",
    "status": "active",
    "allowed_transitions": ["archived"],
    "metadata": {"order": "A-1001"},
    "version": 1,
    "created_at": "2026-03-02T09:30:00.000Z",
    "updated_at": "2026-03-02T09:30:00.000Z",
}

Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


def ok(value: Any = PROJECT, status: int = 200, **headers: str) -> httpx.Response:
    names = {name.replace("_", "-"): text for name, text in headers.items()}
    return httpx.Response(status, json=value, headers={"request-id": "req_1", **names})


def problem(status: int, code: str, **headers: str) -> httpx.Response:
    return ok(
        {
            "type": f"/docs/errors/{code}",
            "title": "T",
            "status": status,
            "detail": "D",
            "code": code,
            "request_id": "req_p",
        },
        status,
        **headers,
    )


class Stub(httpx.MockTransport):
    """Answers the requests in turn; the last answer again and again."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        super().__init__(self._answer)
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers[min(len(self.requests), len(self._answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx.Response):
            return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)
        return answer(request)

    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]

    def headers(self, name: str) -> list[str | None]:
        return [request.headers.get(name) for request in self.requests]


class Both:
    """Makes the same call with one of the two clients, without a pause between attempts."""

    def __init__(self, kind: str, pauses: list[float]) -> None:
        self.kind = kind
        self.pauses = pauses

    def call(self, stub: Stub, make: Callable[[Any], Any], **settings: Any) -> Any:
        """What `make` returns for the client; for the async client, what it gives when it was awaited."""
        if self.kind == "sync":
            with tranche.Tranche(API_KEY, http_client=httpx.Client(transport=stub), **settings) as client:
                return make(client)

        async def run() -> Any:
            http = httpx.AsyncClient(transport=stub)
            async with tranche.AsyncTranche(API_KEY, http_client=http, **settings) as client:
                return await make(client)

        return anyio.run(run)

    def walk(self, stub: Stub, make: Callable[[Any], Any]) -> list[Any]:
        """All records of a list, by its automatic paging."""
        if self.kind == "sync":
            found: list[Any] = self.call(stub, lambda client: list(make(client)))
            return found

        async def collect(client: Any) -> list[Any]:
            return [item async for item in make(client)]

        collected: list[Any] = self.call(stub, collect)
        return collected


@pytest.fixture(params=["sync", "async"])
def both(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Both:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("tranche._client.time.sleep", pauses.append)
    monkeypatch.setattr("tranche._async_client.anyio.sleep", pause)
    return Both(request.param, pauses)
