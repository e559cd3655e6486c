# Bounds an attempt as a whole. The timeouts of httpx hold for each read: a server that sends its headers byte by byte would never exceed one.
# Changes nothing for requests whose timeouts are plain numbers.

from __future__ import annotations

import time
from typing import Any

import httpx


class Until(float):
    """A timeout in seconds that also knows when it ends; httpx hands it down to the reads as it is."""

    __slots__ = ("_moment",)

    _moment: float

    def __new__(cls, seconds: float) -> Until:
        made = super().__new__(cls, seconds)
        made._moment = time.monotonic() + seconds
        return made

    def left(self) -> float:
        """The seconds that are left; raises when there are none."""
        seconds = self._moment - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds


def until(seconds: float | None) -> Until | None:
    """A timeout that begins now."""
    return None if seconds is None else Until(seconds)


def _left(timeout: float | None) -> float | None:
    return timeout.left() if isinstance(timeout, Until) else timeout


class _Connection:
    """A connection of httpcore, whose reads and writes share what is left of the time."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def read(self, max_bytes: int, timeout: float | None = None) -> Any:
        return self._connection.read(max_bytes, timeout=_left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._connection.write(buffer, timeout=_left(timeout))

    def close(self) -> None:
        self._connection.close()

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
        secured = self._connection.start_tls(ssl_context, server_hostname=server_hostname, timeout=_left(timeout))
        return _Connection(secured)

    def get_extra_info(self, info: str) -> Any:
        return self._connection.get_extra_info(info)


class _Network:
    """Makes such connections, in the way of the network that httpcore would use."""

    def __init__(self, network: Any) -> None:
        self._network = network

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> Any:
        return _Connection(self._network.connect_tcp(host, port, timeout=_left(timeout), **options))

    def connect_unix_socket(self, path: str, timeout: float | None = None, **options: Any) -> Any:
        return _Connection(self._network.connect_unix_socket(path, timeout=_left(timeout), **options))

    def sleep(self, seconds: float) -> None:
        self._network.sleep(seconds)


def keep_deadlines(http: httpx.Client) -> None:
    """
    Lets the connections that a client opens from now on end with an `Until`.

    httpx has no public place for it. A transport that is built otherwise stays as it is: there each read of the headers has
    the whole timeout, and the body is bounded all the same.
    """
    mounted: dict[object, object] = getattr(http, "_mounts", {})
    for transport in (getattr(http, "_transport", None), *mounted.values()):
        pool: Any = getattr(transport, "_pool", None)
        network = getattr(pool, "_network_backend", None)
        if network is not None and not isinstance(network, _Network):
            pool._network_backend = _Network(network)
