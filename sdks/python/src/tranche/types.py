# Every type of the API under one name: resources, enums, bodies, webhooks.
# Only gathers what is generated.

from __future__ import annotations

from ._generated import bodies, enums, models
from ._generated import webhooks as webhook_types
from ._generated.bodies import *
from ._generated.enums import *
from ._generated.models import *
from ._generated.webhooks import *
from ._page import AsyncList, AsyncPage, Page
from ._response import ApiResponse, RateLimit
from ._stream import AsyncEventStream, EventStream
from ._webhook_envelope import UnknownWebhook, WebhookEnvelope

__all__ = [
    "ApiResponse",
    "AsyncEventStream",
    "AsyncList",
    "AsyncPage",
    "EventStream",
    "Page",
    "RateLimit",
    "UnknownWebhook",
    "WebhookEnvelope",
]
__all__ += bodies.__all__
__all__ += enums.__all__
__all__ += models.__all__
__all__ += webhook_types.__all__
