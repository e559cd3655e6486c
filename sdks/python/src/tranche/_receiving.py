# What the handlers for Flask, FastAPI and ASGI have in common: bounds, and what is answered to a webhook.
# Knows no framework.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ._errors import WebhookVerificationError
from ._generated.webhooks import WebhookEvent
from .webhooks import DEFAULT_TOLERANCE_SECONDS, Headers, check_tolerance, verify

# The payloads are a few hundred bytes; who sends more than this is not Tranche.
MAX_BODY_BYTES = 1024 * 1024

Secrets: TypeAlias = str | Sequence[str] | Callable[[], str | Sequence[str]]
"""A secret, several while one is being rotated, or a function that gives them at every webhook."""


def receive(body: bytes, headers: Headers, secrets: Secrets, tolerance: float) -> WebhookEvent:
    """Verifies a webhook of a request."""
    return verify(body, headers, secrets() if callable(secrets) else secrets, tolerance=tolerance)


def refusal(error: WebhookVerificationError) -> str:
    """The text of the 400 that refuses a webhook. A secret that we have wrong is not the sender's fault: that raises."""
    if error.reason == "invalid_secret":
        raise error
    return f"{error.reason}: {error}\n"


__all__ = ["DEFAULT_TOLERANCE_SECONDS", "MAX_BODY_BYTES", "Secrets", "check_tolerance", "receive", "refusal"]
