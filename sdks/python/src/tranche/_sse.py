# Reads Server-Sent Events out of the bytes of a connection, however they were cut into pieces.
# Knows neither events nor connections, and never holds more of a message than its bound.

from __future__ import annotations

from typing import NamedTuple

from ._errors import ApiConnectionError

# An event of the API has a few kilobytes at most; this is what a server could make us hold.
MAX_MESSAGE_BYTES = 1024 * 1024

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Message(NamedTuple):
    """One whole message. `data` is None for a message that only moves the place on."""

    id: str | None
    data: str | None


class SseParser:
    """The messages of one connection. What was not ended by an empty line has not come, and is never given out."""

    __slots__ = ("_after_cr", "_begun", "_data", "_id", "_partial", "_size", "retry_seconds")

    def __init__(self) -> None:
        self.retry_seconds: float | None = None
        """How long the server asks to wait before coming back."""
        self._begun = False
        self._after_cr = False
        self._partial = bytearray()
        self._size = 0
        self._data: list[bytes] = []
        self._id: str | None = None

    def feed(self, chunk: bytes) -> list[Message]:
        """The messages that this piece completes. Raises when one is larger than a message may be."""
        if not chunk:
            return []
        # A line may end with CR, LF or both, and a piece may end between the two.
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_cr = False
            if not chunk:
                return []
        self._after_cr = chunk.endswith(b"\r")
        *lines, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        messages: list[Message] = []
        for line in lines:
            self._grow(line)
            whole = bytes(self._partial)
            self._partial.clear()
            message = self._line(whole)
            if message is not None:
                messages.append(message)
        self._grow(rest)
        return messages

    def _grow(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > MAX_MESSAGE_BYTES:
            raise ApiConnectionError(f"A message of the stream is larger than {MAX_MESSAGE_BYTES} bytes.")
        self._partial += piece

    def _line(self, line: bytes) -> Message | None:
        if not self._begun:
            self._begun = True
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            return self._end_of_message()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit():
            self.retry_seconds = int(value[:18]) / 1000
        elif not name:
            # A comment, the sign of life of a quiet stream: there may be any number before the next message.
            self._size -= len(line)
        return None

    def _end_of_message(self) -> Message | None:
        message = Message(self._id, b"\n".join(self._data).decode(errors="replace") if self._data else None)
        self._data = []
        self._id = None
        self._size = 0
        return None if message.id is None and message.data is None else message
