# The JSON side of the shared scenario: variables in strings, captures, and the comparison with what is expected.
# Follows sdks/scenarios/README.md to the letter; knows no client.
# pyright: reportUnknownArgumentType=false
# (It narrows JSON to lists and objects of what is unknown; that is what JSON is.)

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

_WHOLE = re.compile(r"\{\{([^{}]+)\}\}")


def fill(value: Any, variables: Mapping[str, Any]) -> Any:
    """Replaces {{name}} in every string; a string that is nothing else becomes the value itself."""
    if isinstance(value, str):
        whole = _WHOLE.fullmatch(value)
        if whole is not None:
            return _variable(whole[1], variables)
        return _WHOLE.sub(lambda found: str(_variable(found[1], variables)), value)
    if isinstance(value, list):
        return [fill(item, variables) for item in _list(value)]
    if isinstance(value, dict):
        return {key: fill(item, variables) for key, item in _dict(value).items()}
    return value


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value)


def _dict(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value)


def _variable(name: str, variables: Mapping[str, Any]) -> Any:
    if name.startswith("big:"):
        return "x" * int(name[4:])
    return variables[name]


def take(value: Any, path: str) -> Any:
    """The value at a path such as data.0.id."""
    for segment in path.split("."):
        value = _list(value)[int(segment)] if isinstance(value, list) else _dict(value)[segment]
    return value


def differences(expected: Any, actual: Any, where: str = "") -> list[str]:
    """Where the actual value is not what is expected; empty when it matches."""
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return [f"{where}: expected an object, got {actual!r}"]
        found = _dict(actual)
        return [
            line for key, one in _dict(expected).items() for line in differences(one, found.get(key), f"{where}/{key}")
        ]
    if isinstance(expected, list):
        wanted = _list(expected)
        if not isinstance(actual, list) or len(_list(actual)) != len(wanted):
            return [f"{where}: expected {len(wanted)} elements, got {actual!r}"]
        pairs = zip(wanted, _list(actual), strict=True)
        return [line for at, (one, other) in enumerate(pairs) for line in differences(one, other, f"{where}/{at}")]
    if isinstance(expected, str) and expected.startswith("@"):
        return [] if _holds(expected, actual) else [f"{where}: expected {expected}, got {actual!r}"]
    # True equals 1 in Python, and is not the same JSON.
    same = type(expected) is type(actual) or (isinstance(expected, float) and isinstance(actual, (int, float)))
    if isinstance(expected, int) and isinstance(actual, float) and not isinstance(expected, bool):
        same = True
    return [] if same and expected == actual else [f"{where}: expected {expected!r}, got {actual!r}"]


def _holds(rule: str, actual: Any) -> bool:
    name, _, argument = rule.partition(" ")
    match name:
        case "@present":
            return actual is not None
        case "@absent":
            return actual is None
        case "@match":
            return isinstance(actual, str) and re.search(argument, actual) is not None
        case "@length":
            return isinstance(actual, (list, str)) and len(actual) == int(argument)
        case _:
            raise AssertionError(f"{rule} is not a rule.")
