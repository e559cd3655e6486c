# What every test may rely on: how to skip nothing, and the backends of the async tests.
# Holds no expectations.

from __future__ import annotations

import os

import pytest

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
