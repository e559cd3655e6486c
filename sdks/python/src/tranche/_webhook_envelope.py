# What every webhook knows besides its kind and payload: what its headers say. The classes of the kinds are generated.
# Verifies nothing; webhooks.py does, before it makes one of these.

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._model import Model


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class WebhookEnvelope(Model):
    """A webhook. `event` is its kind and `data` its payload; the rest comes from the headers."""

    id: str
    """The event's id, the same at every attempt: remember it, and do things once."""
    timestamp: int
    """When this attempt was sent, in seconds since 1970."""
    seq: int | None = None
    """The event's place in the workspace; None for a test event."""
    prev_seq: int | None = None
    """The place of the event that was sent to this endpoint before; None for the first."""
    attempt: int | None = None
    """Which attempt this is, from 1."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class UnknownWebhook(WebhookEnvelope):
    """A webhook of a kind that is newer than this version of the client."""

    event: str
    """The kind of event."""
    data: dict[str, Any]
    """The payload as it was sent."""
