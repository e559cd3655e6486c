"""
The Python client of Tranche, the service for work that is paid by milestone.

    import tranche

    client = tranche.Tranche(api_key="tr_live_…")
    project = client.projects.create(name="Website", client_id="acme")

`Tranche` blocks, `AsyncTranche` is its twin for asyncio and trio. Types are in `tranche.types`, errors in
`tranche.errors` (the errors are here, too), webhooks in `tranche.webhooks`.
"""

from __future__ import annotations

from . import errors, types, webhooks
from ._async_client import AsyncTranche
from ._client import Tranche
from ._errors import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    FieldProblem,
    TrancheError,
    UnexpectedAnswerError,
    WebhookVerificationError,
)
from ._gaps import AsyncGapDetector, GapDetector, Observation
from ._generated import errors as _by_code
from ._generated.errors import *
from ._page import AsyncList, AsyncPage, Page
from ._response import ApiResponse, RateLimit
from ._stream import AsyncEventStream, EventStream
from ._values import NOT_GIVEN, NotGiven
from ._version import __version__

__all__ = [
    "NOT_GIVEN",
    "ApiConnectionError",
    "ApiError",
    "ApiResponse",
    "ApiTimeoutError",
    "AsyncEventStream",
    "AsyncGapDetector",
    "AsyncList",
    "AsyncPage",
    "AsyncTranche",
    "EventStream",
    "FieldProblem",
    "GapDetector",
    "NotGiven",
    "Observation",
    "Page",
    "RateLimit",
    "Tranche",
    "TrancheError",
    "UnexpectedAnswerError",
    "WebhookVerificationError",
    "__version__",
    "errors",
    "types",
    "webhooks",
]
__all__ += _by_code.__all__
