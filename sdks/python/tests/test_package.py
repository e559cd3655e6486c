# What is published: the wheel and the sdist are built, hold what they should, and the wheel works in an empty environment.

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import tranche

FOLDER = Path(__file__).resolve().parents[1]

PROGRAM = """
import asyncio, tranche
with tranche.Tranche() as client:
    project = client.projects.create(name="From the wheel", client_id="package")
async def read():
    async with tranche.AsyncTranche() as client:
        return await client.projects.retrieve(project.id)
print(asyncio.run(read()).name, tranche.__version__)
"""

CONSUMER = """
import tranche
from tranche.types import Payment, PaymentReleasedWebhook

def total(client: tranche.Tranche) -> int:
    return sum(payment.amount for payment in client.payments.list())

def amount(event: tranche.types.WebhookEvent) -> int:
    return event.data.amount if isinstance(event, PaymentReleasedWebhook) else 0
"""


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(  # noqa: S603
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, **environment},
        cwd=FOLDER,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    # The wheel is made out of the sdist, so both are whole.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder)
    return folder


def test_the_wheel_holds_the_package_its_types_and_its_license(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith("METADATA"))
    source = FOLDER / "src"
    expected = {str(path.relative_to(source)) for path in source.rglob("*.py")}
    assert {name for name in names if name.startswith("tranche/")} == expected | {"tranche/py.typed"}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    for line in (
        "Name: tranche",
        f"Version: {tranche.__version__}",
        "Requires-Python: >=3.10",
        "License-Expression: Apache-2.0",
    ):
        assert line in metadata
    assert "# Tranche for Python" in metadata


def test_the_sdist_holds_sources_tests_and_readme_and_no_leftovers(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "pyproject.toml", "src/tranche/_client.py", "tests/test_package.py"} <= names
    assert not any(".venv" in name or "__pycache__" in name or "junit" in name for name in names)


def test_the_wheel_works_in_an_empty_environment_and_its_types_are_seen(
    built: Path, tmp_path: Path, server: None
) -> None:
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--constraint", FOLDER / "requirements-dev.txt", wheel)
    assert run(python, "-c", PROGRAM, PYTHONPATH="") == f"From the wheel {tranche.__version__}\n"
    consumer = tmp_path / "consumer.py"
    consumer.write_text(CONSUMER)
    run(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--python-executable", python, consumer)
