# Every error that this package raises, under one name.
# Only gathers them.

from __future__ import annotations

from ._errors import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    FieldProblem,
    TrancheError,
    UnexpectedAnswerError,
    WebhookVerificationError,
)
from ._generated import errors as by_code
from ._generated.errors import *

__all__ = [
    "ApiConnectionError",
    "ApiError",
    "ApiTimeoutError",
    "FieldProblem",
    "TrancheError",
    "UnexpectedAnswerError",
    "WebhookVerificationError",
]
__all__ += by_code.__all__
