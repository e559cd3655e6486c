# What the two clients have in common: settings, the request of a call, and the bound of an answer.
# Sends nothing.

from __future__ import annotations

from collections.abc import Mapping
from http.cookiejar import CookieJar
from typing import Any

import httpx

from ._call import MAX_RESPONSE_BYTES, Call
from ._errors import ApiConnectionError
from ._settings import Settings
from ._values import NotGiven

# Authorization is one of the prepared headers. This says so to httpx, which else would look for a name in the address.
NO_AUTH = httpx.Auth()


class NoCookies(CookieJar):
    """Takes no cookies: the API sets none, none are sent, and looking for them takes an eighth of a call's time."""

    def extract_cookies(self, response: object, request: object) -> None:
        """Leaves them where they are."""


class ClientBase:
    """What both clients have in common."""

    def __init__(self, settings: Settings, http: httpx.Client | httpx.AsyncClient) -> None:
        self._settings = settings
        self._headers = settings.prepared_headers(http)
        self._prefix = settings.url.raw_path.rstrip(b"/")

    @property
    def base_url(self) -> str:
        """The server's address."""
        return self._settings.base_url

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self.base_url!r})"

    def _timeout_of(self, call: Call[Any]) -> float | None:
        return self._settings.timeout if isinstance(call.timeout, NotGiven) else call.timeout

    def _request(self, call: Call[Any], timeouts: Mapping[str, float | None]) -> httpx.Request:
        headers = self._headers
        if call.overridden is not None:
            headers = [(name, value) for name, value in headers if name not in call.overridden]
        return httpx.Request(
            call.method,
            self._settings.url.copy_with(raw_path=self._prefix + call.path.encode("ascii")),
            headers=[*headers, *call.headers],
            content=call.content,
            extensions={"timeout": timeouts},
        )


def check_size(size: int) -> None:
    if size > MAX_RESPONSE_BYTES:
        raise ApiConnectionError(f"The answer is larger than {MAX_RESPONSE_BYTES} bytes.")
