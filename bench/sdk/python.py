# Measures the Python client against bare httpx, sync and async, in one process and in turns: the same request, the same connection reuse.
# Starts no server and judges nothing; it prints one line of JSON. Run it with a Python that has the client installed.
#
#   TRANCHE_BASE_URL=… TRANCHE_API_KEY=… python bench/sdk/python.py [--seconds 1] [--rounds 5] [--concurrency 16]
#
# The server needs a RATE_LIMIT_PER_MINUTE that is never reached. The line is
#   {"language":"python","measurements":[{"mode":"sync","operation":"retrieve","client_per_second":…,"bare_per_second":…,"ratio":…}, …]}
# with a ratio that is the median of the rounds' ratios.

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable

import httpx
import tranche

BASE_URL = os.environ["TRANCHE_BASE_URL"]
API_KEY = os.environ["TRANCHE_API_KEY"]
HEADERS = {"authorization": f"Bearer {API_KEY}"}
LIST_LIMIT = 100


def measure(seconds: float, call: Callable[[], object]) -> float:
    """Calls per second."""
    done = 0
    began = time.perf_counter()
    end = began + seconds
    while time.perf_counter() < end:
        call()
        done += 1
    return done / (time.perf_counter() - began)


async def measure_async(seconds: float, concurrency: int, call: Callable[[], Awaitable[object]]) -> float:
    """Calls per second, that many at once."""
    done = 0
    began = time.perf_counter()
    end = began + seconds

    async def work() -> None:
        nonlocal done
        while time.perf_counter() < end:
            await call()
            done += 1

    await asyncio.gather(*(work() for _ in range(concurrency)))
    return done / (time.perf_counter() - began)


def summary(mode: str, operation: str, pairs: list[tuple[float, float]]) -> dict[str, object]:
    client, bare = zip(*pairs, strict=True)
    return {
        "mode": mode,
        "operation": operation,
        "client_per_second": round(statistics.median(client)),
        "bare_per_second": round(statistics.median(bare)),
        "ratio": round(statistics.median(one / other for one, other in pairs), 3),
    }


def measure_sync_client(arguments: argparse.Namespace, project_id: str) -> list[dict[str, object]]:
    path = f"/v1/projects/{project_id}"
    body = {"name": "Measured", "client_id": "bench"}
    with (
        tranche.Tranche(API_KEY, base_url=BASE_URL) as client,
        httpx.Client(base_url=BASE_URL, headers=HEADERS, timeout=30) as bare,
    ):
        contests: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "retrieve": (lambda: client.projects.retrieve(project_id), lambda: bare.get(path).json()),
            "list": (
                lambda: client.projects.list(limit=LIST_LIMIT),
                lambda: bare.get("/v1/projects", params={"limit": LIST_LIMIT}).json(),
            ),
            "create": (
                lambda: client.projects.create(name="Measured", client_id="bench"),
                lambda: bare.post("/v1/projects", json=body).json(),
            ),
        }
        results = []
        for operation, (ours, theirs) in contests.items():
            rounds = [
                (measure(arguments.seconds, ours), measure(arguments.seconds, theirs)) for _ in range(arguments.rounds)
            ]
            results.append(summary("sync", operation, rounds))
        return results


async def measure_async_client(arguments: argparse.Namespace, project_id: str) -> list[dict[str, object]]:
    path = f"/v1/projects/{project_id}"
    async with (
        tranche.AsyncTranche(API_KEY, base_url=BASE_URL) as client,
        httpx.AsyncClient(base_url=BASE_URL, headers=HEADERS, timeout=30) as bare,
    ):

        async def theirs() -> object:
            return (await bare.get(path)).json()

        rounds = []
        for _ in range(arguments.rounds):
            ours = await measure_async(
                arguments.seconds, arguments.concurrency, lambda: client.projects.retrieve(project_id)
            )
            rounds.append((ours, await measure_async(arguments.seconds, arguments.concurrency, theirs)))
        return [summary("async", "retrieve", rounds)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--concurrency", type=int, default=16)
    arguments = parser.parse_args()
    with tranche.Tranche(API_KEY, base_url=BASE_URL) as client:
        projects = [client.projects.create(name=f"Measured {at}", client_id="bench") for at in range(LIST_LIMIT)]
    measurements = measure_sync_client(arguments, projects[0].id)
    measurements += asyncio.run(measure_async_client(arguments, projects[0].id))
    print(json.dumps({"language": "python", "measurements": measurements}))


main()
