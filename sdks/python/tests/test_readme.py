# The README's programs: each is Python, and the first one does what it says against a real server.

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import Any

import pytest

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_every_program_of_the_readme_is_python(block: str) -> None:
    compile(block, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_the_first_call_of_the_readme_pays_the_milestone(server: None, capsys: pytest.CaptureFixture[str]) -> None:
    program: str = BLOCKS[0]
    program = program.replace("tr_live_…", os.environ["TRANCHE_API_KEY"])
    program = program.replace("https://tranche.example.com", os.environ["TRANCHE_BASE_URL"])
    names: dict[str, Any] = {}
    exec(program, names)  # noqa: S102
    names["client"].close()
    assert capsys.readouterr().out == "150000 USD released\n"
