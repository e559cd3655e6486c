# What every test may rely on: how to skip nothing, and the backends of the async tests.
# Holds no expectations.

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

import pytest

import tranche

SERVER_VARIABLES = (
    "TRANCHE_BASE_URL",
    "TRANCHE_API_KEY",
    "TRANCHE_PROXY_URL",
    "TRANCHE_CONTROL_URL",
    "TRANCHE_RECEIVER_URL",
)


@pytest.fixture(scope="session")
def server() -> None:
    """Fails a test that needs the server when there is none, instead of passing it over."""
    absent = [name for name in SERVER_VARIABLES if name not in os.environ]
    if absent:
        pytest.fail(f"Run these tests through ./run-tests; {', '.join(absent)} is not set.", pytrace=False)


@contextmanager
def key_of_its_own() -> Generator[None, None, None]:
    """Puts a new key with every scope into the environment: the requests of one test then leave those of others their minute."""
    with pytest.MonkeyPatch.context() as patch:
        with tranche.Tranche() as client:
            patch.setenv("TRANCHE_API_KEY", client.api_keys.create(name="A test").secret)
        yield
