# An answer that is not what was asked for: how that is noticed where it is read, and what is said of what came.
# Repeats nothing of an answer but a short `object`: there may be secrets in it.

from __future__ import annotations

import re
from typing import Any, Final, cast

NOTHING: Final = object()
"""What is read of an answer without a body; JSON's null is None."""

_SHORT_NAME = re.compile(r"[a-z0-9_.-]{1,40}")


class Mismatch(Exception):
    """An answer is not what its call expects; who knows the response makes an UnexpectedAnswerError of it."""


def mismatch(expected: str, came: object) -> Mismatch:
    """The mismatch of these two."""
    return Mismatch(f"{expected} was expected, and {described(came)} came")


def described(value: object) -> str:
    """What kind of thing a decoded answer is."""
    if value is NOTHING:
        return "nothing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, list):
        return "an array"
    name = cast("dict[str, object]", value).get("object")
    if not isinstance(name, str):
        return "an object without `object`"
    return f"an object `{name}`" if _SHORT_NAME.fullmatch(name) else "an object of another kind"


def nothing(parsed: object) -> None:
    """Reads the answer of a call that returns nothing."""
    if parsed is not NOTHING:
        raise mismatch("nothing", parsed)


def anything(parsed: Any) -> Any:
    """Reads the answer of a call of which nothing is known."""
    return None if parsed is NOTHING else parsed
