# Decides whether a failed attempt is tried again, and after how long. The same for the sync and the async client.
# Pure: it neither sleeps nor sends; chance is handed to it.

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

import httpx

DEFAULT_MAX_RETRIES = 2
DEFAULT_TIMEOUT_SECONDS = 30.0

# The pause before retry 1, 2, 3 … is 0.5 s, 1 s, 2 s … up to 8 s, each shortened by up to half at random, so that
# clients that failed together do not come back together.
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 8.0

# A server that asks for a longer pause than this is not waited for: the error is raised, and says how long. The
# rate limit's window is a minute, so its Retry-After always fits.
LONGEST_RETRY_AFTER_SECONDS = 60.0

# 408: the server saw only part of the request. 409 and the like are answers, not accidents, and are not repeated.
_RETRIED_STATUSES = frozenset({408, 429})


def is_retried_status(status_code: int) -> bool:
    """Whether an answer of this status may be different next time."""
    return status_code in _RETRIED_STATUSES or (status_code >= 500 and status_code != 501)


def is_retried_failure(failure: httpx.RequestError) -> bool:
    """Whether a request that got no answer may get one next time; a request that cannot be sent never will."""
    return not isinstance(failure, (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.TooManyRedirects))


def retry_after_seconds(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """What Retry-After asks for: seconds, or an HTTP date. None when it is absent or unreadable."""
    text = headers.get("retry-after")
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=timezone.utc)
    return max(0.0, (until - (now or datetime.now(timezone.utc))).total_seconds())


def pause_seconds(retries_done: int, retry_after: float | None, random: Callable[[], float]) -> float | None:
    """
    The pause before the next attempt; None when the server asks for a longer one than we wait.

    Retry-After is obeyed where it is longer than our own pause.
    """
    if retry_after is not None and retry_after > LONGEST_RETRY_AFTER_SECONDS:
        return None
    backoff: float = min(FIRST_PAUSE_SECONDS * 2.0**retries_done, LONGEST_PAUSE_SECONDS)
    return max(backoff * (1 - random() / 2), retry_after or 0.0)
