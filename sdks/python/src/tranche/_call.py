# One call of the API as data, and what its attempts mean: success, another attempt after a pause, or an error.
# Shared by the sync and the async client, so that both behave alike; it neither sends nor sleeps.

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from random import random
from typing import Any, Generic, TypeVar
from uuid import uuid4

import httpx

from ._errors import ApiConnectionError, ApiError, ApiTimeoutError, UnexpectedAnswerError
from ._failures import forget_headers
from ._generated.errors import ERROR_CLASSES
from ._model import Model, attach_response
from ._page import BasePage
from ._response import ApiResponse
from ._retry import is_retried_failure, is_retried_status, pause_seconds, retry_after_seconds
from ._unexpected import NOTHING, Mismatch, nothing
from ._values import NOT_GIVEN, NotGiven, encode_body, encode_query, header_line, header_text

T = TypeVar("T")

logger = logging.getLogger("tranche")

# What a server could send to fill our memory; the largest page of the API is a few megabytes.
MAX_RESPONSE_BYTES = 64 * 1024 * 1024

# Set while `with_response` waits for the response of the call inside.
captured: ContextVar[list[ApiResponse] | None] = ContextVar("tranche_captured_responses", default=None)

_KEYED_METHODS = frozenset({"POST", "PATCH"})


class Call(Generic[T]):
    """One call: what is sent at every attempt, and how the answer is read."""

    __slots__ = ("_decode", "content", "headers", "max_retries", "method", "overridden", "path", "timeout")

    def __init__(
        self,
        method: str,
        path: str,
        *,
        decode: Callable[[Any], T],
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | NotGiven | None = NOT_GIVEN,
        max_retries: int | None = None,
    ) -> None:
        self.method = method
        encoded = encode_query(query) if query else ""
        self.path = f"{path}?{encoded}" if encoded else path
        self.headers: list[tuple[bytes, bytes]] = []
        # Names that replace what the client would send with every request.
        self.overridden: frozenset[bytes] | None = None
        self.content: bytes | None = None
        self.timeout = timeout
        self.max_retries = max_retries
        self._decode = decode
        if body is not None:
            self.content = encode_body(body)
            self.headers.append((b"content-type", b"application/json"))
        if headers is not None:
            self.headers.extend(header_line(name, value) for name, value in headers.items())
            self.overridden = frozenset(name for name, _ in self.headers)
        if method in _KEYED_METHODS:
            # Made here, once, so that every attempt carries the same and the server does the thing once.
            key = str(uuid4()) if idempotency_key is None else header_text("idempotency_key", idempotency_key)
            self.headers.append((b"idempotency-key", key.encode()))
        if if_match is not None:
            self.headers.append((b"if-match", header_text("if_match", if_match).encode()))
        if if_none_match is not None:
            self.headers.append((b"if-none-match", header_text("if_none_match", if_none_match).encode()))

    @property
    def deletes(self) -> bool:
        """Whether success means that the thing is gone, and says no more than that."""
        return self.method == "DELETE" and self._decode is nothing

    def result(self, response: ApiResponse, parsed: Any) -> T:
        """The typed result of a successful answer. Raises when the answer is something else."""
        box = captured.get()
        if box is not None:
            box.append(response)
        try:
            value = self._decode(parsed)
        except Mismatch as found:
            problem = str(found)
        except (AttributeError, KeyError, TypeError, ValueError) as failure:
            # Not chained: the failure may repeat what was read.
            problem = f"one of its fields cannot be read ({type(failure).__name__})"
        else:
            return self._with_response(value, response)
        raise UnexpectedAnswerError(problem, response.status_code, response.request_id)

    def _with_response(self, value: T, response: ApiResponse) -> T:
        holder: object = value
        if isinstance(holder, Model):
            attach_response(holder, response)
        elif isinstance(holder, BasePage):
            holder.last_response = response
        return value


class Pause:
    """How long to wait before the next attempt."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class Attempts(Generic[T]):
    """The attempts of one call: how many there were, and what follows from how each ended."""

    __slots__ = ("_call", "_max_retries", "_outcome_unknown", "count")

    def __init__(self, call: Call[T], max_retries: int) -> None:
        self._call = call
        self._max_retries = max_retries if call.max_retries is None else call.max_retries
        # Whether an earlier attempt ended without an answer: the server may have done what was asked.
        self._outcome_unknown = False
        self.count = 1

    def on_response(self, response: httpx.Response, content: bytes) -> T | Pause:
        """The result, or the pause before the next attempt. Raises when there is none."""
        status = response.status_code
        answer = ApiResponse(status, response.headers, content, self.count)
        if 200 <= status < 300:
            try:
                parsed = json.loads(content) if content else NOTHING
            except ValueError:
                # Not chained: the failure would keep the body.
                pass
            else:
                return self._call.result(answer, parsed)
            # The status line promised success, so what is missing was lost on the way.
            return self._pause_or_raise(ApiConnectionError("The answer is not complete JSON."), None)
        if status == 404 and self._outcome_unknown and self._call.deletes:
            # It was there when the first attempt asked; that attempt has deleted it.
            return self._call.result(answer, NOTHING)
        error = error_of(answer)
        if not is_retried_status(status):
            raise error
        if status >= 500:
            self._outcome_unknown = True
        return self._pause_or_raise(error, None, retry_after_seconds(response.headers))

    def on_failure(self, failure: Exception) -> Pause:
        """The pause before the next attempt after one without an answer. Raises when there is none."""
        error = connection_error(failure)
        if isinstance(failure, httpx.RequestError) and not is_retried_failure(failure):
            raise error from failure
        self._outcome_unknown = True
        return self._pause_or_raise(error, failure)

    def _pause_or_raise(self, error: Exception, cause: Exception | None, retry_after: float | None = None) -> Pause:
        done = self.count - 1
        pause = pause_seconds(done, retry_after, random) if done < self._max_retries else None
        if pause is None:
            raise error from cause
        logger.info(
            "%s %s: attempt %d failed, next in %.2f s: %s",
            self._call.method,
            self._call.path.partition("?")[0],
            self.count,
            pause,
            error,
        )
        self.count += 1
        return Pause(pause)


def error_of(response: ApiResponse) -> ApiError:
    """The error of an answer, of the class that belongs to its code."""
    error = ApiError(response)
    specific = ERROR_CLASSES.get(error.code) if error.code is not None else None
    return error if specific is None else specific(response)


def connection_error(failure: Exception) -> ApiConnectionError:
    """The error of an attempt that got no answer; the failure may be its cause then."""
    forget_headers(failure)
    if isinstance(failure, (httpx.TimeoutException, TimeoutError)):
        return ApiTimeoutError("The answer did not come within the timeout.")
    # Only the kind: the text of a low-level error may repeat what was sent, the API key included.
    return ApiConnectionError(f"No whole answer came from the server ({type(failure).__name__}).")
