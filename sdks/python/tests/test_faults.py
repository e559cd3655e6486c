# Chaos between client and server: connections dropped before and after the commit, errors in the place of answers, bodies cut short
# or slow. Whatever happens, no call has its effect twice, and none that returned has none. The seed is printed.

from __future__ import annotations

import os
import random
import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import httpx
import pytest

import tranche
from conftest import key_of_its_own

CALLS = 60
PARALLEL = 6
ATTEMPTS = 30
TIMEOUT_SECONDS = 1.5
SLOW_MS = 2000

FAULTS: list[dict[str, Any]] = [
    {"fault": "drop_before"},
    {"fault": "drop_after"},
    {"fault": "answer_before", "status": 500, "text": "oops"},
    {"fault": "answer_after", "status": 502, "text": "<h1>Bad gateway</h1>"},
    {"fault": "answer_after", "status": 503, "headers": {"retry-after": "0"}, "json": {"code": "overloaded"}},
    {"fault": "truncate"},
    {"fault": "slow_body", "delay_ms": SLOW_MS},
]
# A slow body takes a second and a half; a few are enough.
WEIGHTS = [10, 10, 10, 10, 10, 10, 1]


class Chaos:
    """Arms faults at the proxy, in an order that a seed decides."""

    def __init__(self) -> None:
        self.seed = secrets.randbits(32)
        print(f"seed {self.seed}")
        self._random = random.Random(self.seed)
        self._lock = threading.Lock()
        self._control = httpx.Client(base_url=os.environ["TRANCHE_CONTROL_URL"], timeout=40)
        self._control.post("/reset").raise_for_status()

    def arm(self, method: str, count: int = 1) -> None:
        """The next requests with this method have one accident each."""
        with self._lock:
            faults = self._random.choices(FAULTS, WEIGHTS, k=count)
        for fault in faults:
            self._control.post("/faults", json={**fault, "method": method}).raise_for_status()

    def hits(self) -> int:
        exchanges: list[dict[str, Any]] = self._control.get("/exchanges").json()["exchanges"]
        return sum(one["fault"] is not None for one in exchanges)

    def close(self) -> None:
        self._control.post("/reset")
        self._control.close()


@pytest.fixture
def chaos(server: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chaos]:
    monkeypatch.setattr("tranche._retry.FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("tranche._retry.LONGEST_PAUSE_SECONDS", 0.05)
    with key_of_its_own():
        made = Chaos()
        yield made
        made.close()


def settings() -> dict[str, Any]:
    return {"base_url": os.environ["TRANCHE_PROXY_URL"], "max_retries": ATTEMPTS, "timeout": TIMEOUT_SECONDS}


def names_of(client_id: str) -> list[str]:
    """What there is in truth, asked without the proxy."""
    with tranche.Tranche() as direct:
        return sorted(project.name for project in direct.projects.list(client=client_id, limit=100))


def test_no_call_of_the_sync_client_has_its_effect_twice(chaos: Chaos) -> None:
    client_id = f"chaos-{secrets.token_hex(5)}"
    with tranche.Tranche(**settings()) as client, ThreadPoolExecutor(PARALLEL) as pool:

        def create(number: int) -> str:
            chaos.arm("POST")
            return client.projects.create(name=f"{number:03}", client_id=client_id).name

        returned = sorted(pool.map(create, range(CALLS)))
    assert returned == [f"{number:03}" for number in range(CALLS)]
    assert names_of(client_id) == returned
    assert chaos.hits() > CALLS / 2


def test_no_call_of_the_async_client_has_its_effect_twice(chaos: Chaos) -> None:
    client_id = f"chaos-{secrets.token_hex(5)}"
    returned: list[str] = []

    async def run() -> None:
        turns = anyio.Semaphore(PARALLEL)
        async with tranche.AsyncTranche(**settings()) as client, anyio.create_task_group() as group:

            async def create(number: int) -> None:
                async with turns:
                    chaos.arm("POST")
                    returned.append((await client.projects.create(name=f"{number:03}", client_id=client_id)).name)

            for number in range(CALLS):
                group.start_soon(create, number)

    anyio.run(run)
    assert sorted(returned) == [f"{number:03}" for number in range(CALLS)]
    assert names_of(client_id) == sorted(returned)
    assert chaos.hits() > CALLS / 2


def test_a_release_that_got_lost_releases_once_and_tells_it_once(chaos: Chaos) -> None:
    with tranche.Tranche() as direct:
        project = direct.projects.create(
            name="Chaos", client_id="chaos", release="manual", milestones=[{"title": "T", "amount": 700}]
        )
        milestone = direct.projects.list_milestones(project.id).data[0]
        direct.milestones.update(milestone.id, status="submitted")
        chaos.arm("PATCH", 3)
        chaos.arm("POST", 3)
        with tranche.Tranche(**settings()) as client:
            assert client.milestones.update(milestone.id, status="approved").status == "approved"
            (payment,) = client.payments.list(project=project.id)
            assert client.payments.release(payment.id).status == "released"
        told = [event.type for event in direct.events.list(limit=100) if event.data.get("projectId") == project.id]
        assert told.count("milestone.approved") == 1
        assert told.count("payment.released") == 1
        assert len(list(direct.invoices.list(project=project.id))) == 1


def test_a_walk_through_faults_misses_nothing_and_repeats_nothing(chaos: Chaos) -> None:
    client_id = f"chaos-{secrets.token_hex(5)}"
    with tranche.Tranche() as direct:
        made = [direct.projects.create(name=str(number), client_id=client_id).id for number in range(30)]
    chaos.arm("GET", 10)
    with tranche.Tranche(**settings()) as client:
        walked = [project.id for project in client.projects.list(client=client_id, limit=5)]
    assert walked == made[::-1]
