# What a failed request may tell when it is the cause of an error: what went wrong, and nothing of what was sent.
# Decides nothing about retries.

from __future__ import annotations

import httpx

# What is no secret and may well be in a message: an address, say.
_HARMLESS = frozenset(
    {
        "accept",
        "accept-encoding",
        "cache-control",
        "connection",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "transfer-encoding",
        "user-agent",
    }
)
# An exception has few that came before it; a circle has no end.
_MAX_CHAIN = 10


def forget_headers(failure: BaseException) -> None:
    """Takes the headers out of a failure, also where its words, or those of what caused it, repeat one's value."""
    if not isinstance(failure, httpx.RequestError):
        return
    try:
        request = failure.request
    except RuntimeError:
        return
    if _repeats(_words(failure), request.headers):
        failure.args = ("its words repeat what was sent",)
        failure.__cause__ = failure.__context__ = None
    failure.request = httpx.Request(request.method, request.url)


def _words(failure: BaseException) -> str:
    words: list[str] = []
    one: BaseException | None = failure
    while one is not None and len(words) < _MAX_CHAIN:
        words.append(f"{one} {one!r}")
        one = one.__cause__ or one.__context__
    return "\n".join(words)


def _repeats(words: str, headers: httpx.Headers) -> bool:
    values = [value for name, value in headers.multi_items() if name not in _HARMLESS and value]
    # "Bearer" is no secret, what follows it is.
    return any(value in words or value.rpartition(" ")[2] in words for value in values)
