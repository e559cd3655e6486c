# Receiving webhooks: verification by the Standard Webhooks specification, and the typed event.
# Does no I/O: frameworks are served by tranche.flask and tranche.asgi, missed events by the gap detectors.

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ._errors import WebhookVerificationError
from ._gaps import AsyncGapDetector, GapDetector
from ._generated.enums import EventType
from ._generated.models import Event
from ._generated.webhooks import WEBHOOK_CLASSES, WebhookEvent
from ._webhook_envelope import UnknownWebhook

if TYPE_CHECKING:
    from ._async_client import AsyncTranche
    from ._client import Tranche

DEFAULT_TOLERANCE_SECONDS = 300

# A secret has 24 to 64 bytes by the specification; what is far longer is a mistake, not a secret.
_SECRET_PREFIX = "whsec_"
# A sender signs once for each secret that is valid at the time. More signatures than this are not looked at.
MAX_SIGNATURES = 16

Headers = Mapping[str, str] | Iterable[tuple[str, str]]


def verify(
    body: bytes | bytearray | memoryview | str,
    headers: Headers,
    secret: str | Sequence[str],
    *,
    tolerance: float = DEFAULT_TOLERANCE_SECONDS,
    now: float | None = None,
) -> WebhookEvent:
    """
    Verifies a webhook and returns its event.

        event = tranche.webhooks.verify(request.get_data(), request.headers, secret)
        match event:
            case PaymentReleasedWebhook():
                print(event.data.amount, event.data.currency)

    :param body: the raw bytes of the request's body, before any parsing.
    :param headers: the request's headers, names in any case.
    :param secret: the endpoint's secret, or several while it is being rotated.
    :param tolerance: how many seconds the webhook's time may differ from ours.
    :param now: our time in seconds since 1970, for tests.
    :raises WebhookVerificationError: when anything is wrong; its `reason` says what.
    """
    content, told = _verified(body, headers, secret, tolerance, now)
    return _event_of(content, told)


def verify_signature(
    body: bytes | bytearray | memoryview | str,
    headers: Headers,
    secret: str | Sequence[str],
    *,
    tolerance: float = DEFAULT_TOLERANCE_SECONDS,
    now: float | None = None,
) -> None:
    """Verifies a webhook as `verify` does, but does not look at what it says."""
    _verified(body, headers, secret, tolerance, now)


def event_of(event: Event) -> WebhookEvent:
    """The typed event of a record of `GET /v1/events`, as its webhook would have told it."""
    return _typed(
        {
            "event": event.type,
            "data": dict(event.data),
            "id": event.id,
            "timestamp": int(event.created_at.timestamp()),
            "seq": event.seq,
            "prev_seq": None,
            "attempt": None,
        }
    )


def _verified(
    body: bytes | bytearray | memoryview | str,
    headers: Headers,
    secret: str | Sequence[str],
    tolerance: float,
    now: float | None,
) -> tuple[bytes, dict[str, str]]:
    keys = [_key_of(one) for one in ([secret] if isinstance(secret, str) else secret)]
    if not keys:
        raise WebhookVerificationError("invalid_secret", "No secret was given.")
    pairs = cast("Mapping[str, str]", headers).items() if isinstance(headers, Mapping) else headers
    told = {name.lower(): value for name, value in pairs}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not told.get(name):
            raise WebhookVerificationError("missing_header", f"The header {name} is missing.")
    timestamp = told["webhook-timestamp"]
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise WebhookVerificationError("invalid_timestamp", "webhook-timestamp is not whole seconds.")
    content = body.encode() if isinstance(body, str) else bytes(body)
    signed = f"{told['webhook-id']}.{timestamp}.".encode("latin-1", "replace") + content
    if not _is_signed(signed, told["webhook-signature"], keys):
        raise WebhookVerificationError("no_matching_signature", "No signature matches.")
    age = (time.time() if now is None else now) - int(timestamp)
    if age > tolerance:
        raise WebhookVerificationError("timestamp_too_old", "The webhook is too old.")
    if age < -tolerance:
        raise WebhookVerificationError("timestamp_too_new", "The webhook's time lies in the future.")
    return content, told


def _key_of(secret: str) -> bytes:
    text = secret.removeprefix(_SECRET_PREFIX)
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        # Not chained and not repeated: the text is a secret.
        key = b""
    if not key:
        raise WebhookVerificationError("invalid_secret", "A webhook secret is whsec_ and base64.") from None
    return key


def _is_signed(signed: bytes, signatures: str, keys: Sequence[bytes]) -> bool:
    expected = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    matched = False
    for signature in signatures.split(" ")[:MAX_SIGNATURES]:
        version, _, value = signature.partition(",")
        if version != "v1":
            continue
        for one in expected:
            # Every pair is compared, and each in constant time: how long this takes tells nothing.
            matched |= hmac.compare_digest(one, value.encode("utf-8", "replace"))
    return matched


def _event_of(content: bytes, told: Mapping[str, str]) -> WebhookEvent:
    try:
        parsed: object = json.loads(content.decode())
    except ValueError as broken:
        raise WebhookVerificationError("invalid_payload", "The body is not JSON.") from broken
    if isinstance(parsed, dict):
        body = cast("dict[str, object]", parsed)
        if isinstance(body.get("event"), str) and isinstance(body.get("data"), dict):
            return _typed(
                {
                    **body,
                    "id": told["webhook-id"],
                    "timestamp": int(told["webhook-timestamp"]),
                    "seq": _number(told.get("tranche-seq")),
                    "prev_seq": _number(told.get("tranche-prev-seq")),
                    "attempt": _number(told.get("tranche-attempt")),
                }
            )
    raise WebhookVerificationError("invalid_payload", "The body is not an object with event and data.")


def _typed(values: dict[str, Any]) -> WebhookEvent:
    known = WEBHOOK_CLASSES.get(values["event"], UnknownWebhook)
    return cast("WebhookEvent", known._adopt(values))


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


class Webhooks:
    """What `client.webhooks` offers."""

    def __init__(self, client: Tranche) -> None:
        self._client = client

    verify = staticmethod(verify)
    event_of = staticmethod(event_of)

    def gap_detector(
        self, *, last_seq: int | None = None, event_types: Iterable[EventType] | None = None
    ) -> GapDetector:
        """
        Notices webhooks that did not arrive, and reads what they would have told.

        :param last_seq: the highest `seq` you have had, from your own records; None for a new endpoint.
        :param event_types: the kinds the endpoint is subscribed to; None returns every kind.
        """
        return GapDetector(self._client, last_seq, event_types)


class AsyncWebhooks:
    """What `client.webhooks` offers on an AsyncTranche. Verifying needs no network and no `await`."""

    def __init__(self, client: AsyncTranche) -> None:
        self._client = client

    verify = staticmethod(verify)
    event_of = staticmethod(event_of)

    def gap_detector(
        self, *, last_seq: int | None = None, event_types: Iterable[EventType] | None = None
    ) -> AsyncGapDetector:
        """Notices webhooks that did not arrive, and reads what they would have told; see `Webhooks.gap_detector`."""
        return AsyncGapDetector(self._client, last_seq, event_types)
