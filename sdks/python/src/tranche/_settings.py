# What a client is made from, checked once: key, address, defaults, and the headers of every request.
# Does no I/O. Keeps the API key nowhere but in the prepared header.

from __future__ import annotations

import os
import platform
from collections.abc import Mapping

import httpx

from ._retry import DEFAULT_MAX_RETRIES, DEFAULT_TIMEOUT_SECONDS
from ._values import header_line, header_text
from ._version import __version__

DEFAULT_BASE_URL = "http://127.0.0.1:8080"

USER_AGENT = (
    f"tranche-python/{__version__} "
    f"({platform.python_implementation()}/{platform.python_version()}; httpx/{httpx.__version__})"
)


class _Secret(bytes):
    """Bytes that are sent as they are, and never printed, in a dump of variables neither."""

    def __repr__(self) -> str:
        return "b'[secret]'"


class Settings:
    """The settings of one client."""

    __slots__ = ("_authorization", "_headers", "base_url", "max_retries", "timeout", "url")

    def __init__(
        self,
        api_key: str | None,
        base_url: str | httpx.URL | None,
        timeout: float | None,
        max_retries: int,
        headers: Mapping[str, str] | None,
    ) -> None:
        key = api_key if api_key is not None else os.environ.get("TRANCHE_API_KEY")
        if not key:
            raise ValueError("An API key is needed: Tranche(api_key=...) or the variable TRANCHE_API_KEY.")
        if max_retries < 0:
            raise ValueError("max_retries must be 0 or more.")
        address = base_url if base_url is not None else os.environ.get("TRANCHE_BASE_URL") or DEFAULT_BASE_URL
        self.url = httpx.URL(str(address).rstrip("/"))
        # A name and a password in the address would become another Authorization header, and be printed with it.
        if self.url.scheme not in ("http", "https") or not self.url.host or self.url.userinfo:
            raise ValueError("base_url must be an http or https address without a user name.")
        self.base_url = str(self.url)
        self.timeout = timeout
        self.max_retries = max_retries
        self._headers = {
            b"accept": b"application/json, application/problem+json",
            b"user-agent": USER_AGENT.encode(),
            **dict(header_line(name, value) for name, value in (headers or {}).items()),
        }
        # Checked here, because a low-level error about a malformed header would repeat its value.
        self._authorization = _Secret(f"Bearer {header_text('api_key', key)}".encode())

    def prepared_headers(self, http_client: httpx.Client | httpx.AsyncClient) -> list[tuple[bytes, bytes]]:
        """The headers that every request begins with: those of the HTTP client, then ours over them."""
        merged = httpx.Headers(http_client.headers)
        # Kept only when somebody set it on purpose; httpx's own says nothing of us.
        merged.update(list(self._headers.items()))
        merged["host"] = self.url.netloc.decode("ascii")
        merged.pop("authorization", None)
        # Those of the HTTP client have been checked by nobody yet.
        lines = [header_line(name.decode("latin-1"), value.decode("latin-1")) for name, value in merged.raw]
        return [*lines, (b"authorization", self._authorization)]


def timeouts_of(seconds: float | None) -> dict[str, float | None]:
    """The form in which a request carries its timeouts down to the transport."""
    return {"connect": seconds, "read": seconds, "write": seconds, "pool": seconds}


__all__ = [
    "DEFAULT_BASE_URL",
    "DEFAULT_MAX_RETRIES",
    "DEFAULT_TIMEOUT_SECONDS",
    "USER_AGENT",
    "Settings",
    "timeouts_of",
]
