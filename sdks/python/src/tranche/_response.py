# What a response says besides its body: status, request id, rate limit.
# Holds no request, so that an API key cannot leak through it.

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import httpx

_RATE_LIMIT = re.compile(r"(?:^|;)\s*([a-z]+)=(\d+)")


@dataclass(frozen=True)
class RateLimit:
    """How much of the key's minute is left. Any part is None when the server did not say."""

    limit: int | None
    """Requests the key may send in each window."""
    window_seconds: int | None
    """The length of the window."""
    remaining: int | None
    """Requests that are left in this window, at least."""
    reset_seconds: int | None
    """Seconds until the window ends."""


@dataclass(frozen=True)
class ApiResponse:
    """A response as it arrived, read in full."""

    status_code: int
    headers: httpx.Headers = field(repr=False)
    """Of all headers, by name in any case."""
    content: bytes = field(repr=False)
    """The body's bytes."""
    attempts: int = 1
    """How many requests the call took, retries included."""

    def _header(self, name: str) -> str | None:
        value: str | None = self.headers.get(name)
        return value

    @property
    def request_id(self) -> str | None:
        """Names the request in the server's log; say it when you ask for help."""
        return self._header("request-id")

    @property
    def etag(self) -> str | None:
        """The version of the resource, for `if_match`."""
        return self._header("etag")

    @property
    def idempotent_replayed(self) -> bool:
        """Whether this is the stored answer of an earlier request with the same idempotency key."""
        return self._header("idempotent-replayed") == "true"

    @property
    def rate_limit(self) -> RateLimit:
        """What the rate-limit headers say."""
        policy = dict(_RATE_LIMIT.findall(self._header("ratelimit-policy") or ""))
        state = dict(_RATE_LIMIT.findall(self._header("ratelimit") or ""))
        return RateLimit(
            limit=_to_int(policy.get("q")),
            window_seconds=_to_int(policy.get("w")),
            remaining=_to_int(state.get("r")),
            reset_seconds=_to_int(state.get("t")),
        )

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode(errors="replace")

    def json(self) -> Any:
        """The body as JSON; None when there is none."""
        return json.loads(self.content) if self.content else None


def _to_int(text: str | None) -> int | None:
    return None if text is None else int(text)
