# The hand-written part of the errors: what every error knows. The classes by code are generated from the API's description.
# An error never holds the request, and with it the API key.

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, cast

import httpx

from ._response import ApiResponse
from ._retry import retry_after_seconds


class TrancheError(Exception):
    """The base of everything this package raises on purpose."""


class ApiConnectionError(TrancheError):
    """No whole answer came, after all retries. Whether the server did something is unknown; the cause is chained."""


class ApiTimeoutError(ApiConnectionError):
    """The answer did not come, or not completely, within the timeout, after all retries."""


class UnexpectedAnswerError(TrancheError):
    """
    The server said that all is well, but answered something else than was asked for, or a page that leads nowhere.

    Most likely `base_url` is the address of something else.
    """

    def __init__(self, problem: str, status: int, request_id: str | None) -> None:
        request = f" [request {request_id}]" if request_id else ""
        super().__init__(f"The answer is not what was asked for: {problem} (status {status}).{request}")
        self._problem = problem
        self.status = status
        """The HTTP status."""
        self.request_id = request_id
        """Names the request in the server's log, if it came to one."""

    def __reduce__(self) -> tuple[type[UnexpectedAnswerError], tuple[str, int, str | None]]:
        return type(self), (self._problem, self.status, self.request_id)


WebhookRefusal = Literal[
    "missing_header",
    "invalid_timestamp",
    "timestamp_too_old",
    "timestamp_too_new",
    "no_matching_signature",
    "invalid_payload",
    "invalid_secret",
]


class WebhookVerificationError(TrancheError):
    """A webhook is not what it says it is, or too old. Answer 400 and do nothing else."""

    def __init__(self, reason: WebhookRefusal, message: str) -> None:
        super().__init__(message)
        self.reason: WebhookRefusal = reason
        """What is wrong, stable. `invalid_secret` is a mistake on your side, the others are on the sender's."""

    def __reduce__(self) -> tuple[type[WebhookVerificationError], tuple[WebhookRefusal, str]]:
        return type(self), (self.reason, str(self))


@dataclass(frozen=True)
class FieldProblem:
    """One field that is wrong."""

    pointer: str
    """Where: a JSON pointer into the body (`/milestones/0/amount`), `query/<name>` or `header/<Name>`."""
    code: str
    """What is wrong with it, stable: `missing`, `wrong_type`, `unknown_field`, `too_long` …"""
    message: str
    """What would be right."""


class ApiError(TrancheError):
    """
    The server, or something before it, answered with an error.

    There is one subclass for each `code` (`NotFoundError`, `InvalidTransitionError` …). Decide by the class or the
    code; both are stable, the words are not.
    """

    def __init__(self, response: ApiResponse) -> None:
        problem = _problem_of(response)
        self.response = response
        """The response, with the problem document as it arrived."""
        self.status = response.status_code
        """The HTTP status."""
        self.code = _text(problem.get("code"))
        """What went wrong, stable; None when the answer came from something before the server, a proxy, say."""
        self.title = _text(problem.get("title"))
        """The kind of error in a few words."""
        self.detail = _text(problem.get("detail"))
        """What happened this time."""
        self.type = _text(problem.get("type"))
        """The page that explains this kind of error."""
        self.request_id = _text(problem.get("request_id")) or response.request_id
        """Names the request in the server's log; say it when you ask for help."""
        self.field_errors = _field_problems(problem.get("errors"))
        """Every field that is wrong, where fields are at fault."""
        super().__init__(self._message())

    @property
    def headers(self) -> httpx.Headers:
        """The headers of the response."""
        return self.response.headers

    @property
    def retry_after_seconds(self) -> float | None:
        """How long the server asks to wait before the next try; None when it does not say."""
        return retry_after_seconds(self.response.headers)

    def _message(self) -> str:
        words = self.detail or self.title or f"The server answered with status {self.status}."
        named = f" (code {self.code})" if self.code else ""
        request = f" [request {self.request_id}]" if self.request_id else ""
        return f"{words}{named}{request}"

    def __reduce__(self) -> tuple[type[ApiError], tuple[ApiResponse]]:
        return type(self), (self.response,)


def _problem_of(response: ApiResponse) -> dict[str, Any]:
    try:
        problem = json.loads(response.content)
    except ValueError:
        return {}
    return cast("dict[str, Any]", problem) if isinstance(problem, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _field_problems(value: object) -> list[FieldProblem]:
    if not isinstance(value, list):
        return []
    items = cast("list[dict[str, object]]", [item for item in cast("list[object]", value) if isinstance(item, dict)])
    return [
        FieldProblem(str(item.get("pointer", "")), str(item.get("code", "")), str(item.get("message", "")))
        for item in items
    ]
