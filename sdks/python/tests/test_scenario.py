# The shared scenario, played against a real server through both clients. Each step is one test; each needs those before it.
# What a step means is in scenario_runner.py.

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import key_of_its_own
from scenario_drivers import AsyncDriver, SyncDriver
from scenario_runner import Runner

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "scenario.json"
STEPS: list[dict[str, Any]] = json.loads(SCENARIO.read_text())["steps"]


class Play:
    """A run of the scenario, and whether it has failed already."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.failed_at: int | None = None


@pytest.fixture(scope="module", params=["sync", "async"])
def play(request: pytest.FixtureRequest, server: None) -> Iterator[Play]:
    with key_of_its_own():
        runner = Runner(SyncDriver() if request.param == "sync" else AsyncDriver())
        yield Play(runner)
        runner.close()


@pytest.mark.parametrize("number", range(len(STEPS)), ids=[f"{at}: {step['name']}" for at, step in enumerate(STEPS)])
def test_the_client_plays_the_shared_scenario(play: Play, number: int) -> None:
    if play.failed_at is not None:
        pytest.fail(f"Step {play.failed_at} failed before.", pytrace=False)
    play.failed_at = number
    play.runner.step(STEPS[number])
    play.failed_at = None
