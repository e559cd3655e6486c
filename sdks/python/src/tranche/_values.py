# Turns Python values into what goes over the wire and back: times, JSON bodies, query strings, path segments.
# Knows no resource and does no I/O.

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timezone
from typing import Any, Final, cast, final
from urllib.parse import quote, urlencode


@final
class NotGiven:
    """The type of NOT_GIVEN: an argument that was left out, where None would mean JSON's null."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN: Final = NotGiven()

_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")
_PRINTABLE_ASCII = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def parse_time(text: str) -> datetime:
    """Reads an RFC 3339 time as an aware datetime. Python 3.10 does not read the Z, hence the replacement."""
    if text.endswith("Z"):
        text = text[:-1] + "+00:00"
    return datetime.fromisoformat(text)


def format_time(value: datetime | date) -> str:
    """Writes a time as the API does, in UTC and milliseconds; a mere date as YYYY-MM-DD."""
    if not isinstance(value, datetime):
        return value.isoformat()
    if value.tzinfo is None:
        raise ValueError("A datetime needs a time zone: datetime.now(timezone.utc), not datetime.now().")
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _encode_other(value: object) -> object:
    if isinstance(value, date):
        return format_time(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    if isinstance(value, Sequence):
        return list(cast("Sequence[object]", value))
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON.")


# NaN and infinity are not JSON; the server would answer malformed_json to them.
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_encode_other)


def encode_body(body: Mapping[str, object]) -> bytes:
    """The JSON text of a request, without the arguments that were left out."""
    given = {name: value for name, value in body.items() if value is not NOT_GIVEN}
    return _encoder.encode(given).encode()


def encode_query(query: Mapping[str, object]) -> str:
    """The query string, without the arguments that were left out; a mapping becomes name[key]=value."""
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        if value is NOT_GIVEN or value is None:
            continue
        if isinstance(value, Mapping):
            inner = cast("Mapping[str, object]", value)
            pairs.extend((f"{name}[{key}]", _query_text(one)) for key, one in inner.items())
        else:
            pairs.append((name, _query_text(value)))
    return urlencode(pairs)


def _query_text(value: object) -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, date):
        return format_time(value)
    return str(value)


def path_segment(name: str, value: str) -> str:
    """One id in a path. An empty one is refused: it would turn a read of one thing into another call."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise ValueError(f"{name} must be an id, not {value!r}.")
    return quote(value, safe="")


def header_text(name: str, value: str) -> str:
    """A header's value, if it may be one. The message does not repeat it: it may be a secret."""
    if not isinstance(value, str) or _VISIBLE_ASCII.fullmatch(value) is None:
        raise ValueError(f"{name} must be visible ASCII characters without spaces.")
    return value


def header_line(name: str, value: str) -> tuple[bytes, bytes]:
    """A header as it is sent, if it may be. No message repeats the value, which may be a secret."""
    if not isinstance(name, str) or _HEADER_NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} is no name of a header.")
    if not isinstance(value, str) or _PRINTABLE_ASCII.fullmatch(value) is None:
        raise ValueError(f"The header {name} must be printable ASCII characters without spaces at its ends.")
    return name.lower().encode(), value.encode()


def entity_tag(value: int | str | None) -> str | None:
    """An If-Match value: the `version` of a resource, or an ETag as it was received."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"A condition is a version (int) or an ETag (str), not {type(value).__name__}.")
    return f'"{value}"'


def either(value: object, short: object, name: str) -> object:
    """The value of an argument that has two names; giving both is a mistake."""
    if short is NOT_GIVEN:
        return value
    if value is not NOT_GIVEN:
        raise TypeError(f"{name} and its short form were both given.")
    return short


def to_jsonable(value: object) -> Any:
    """The JSON-ready form of a value that models hold."""
    if isinstance(value, date):
        return format_time(value)
    if isinstance(value, list):
        return [to_jsonable(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: to_jsonable(item) for key, item in cast("dict[str, object]", value).items()}
    to_dict = getattr(value, "to_dict", None)
    return to_dict() if to_dict is not None else value
