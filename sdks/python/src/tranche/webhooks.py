# Receiving webhooks: verification by the Standard Webhooks specification, and the typed event.
# Does no I/O: frameworks are served by tranche.flask and tranche.asgi, missed events by the gap detectors.

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

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


class HasItems(Protocol):
    """What has headers as `items()`: a dict, the headers of any framework, and the message of `http.server`."""

    def items(self) -> Iterable[tuple[str, str]]: ...


Headers: TypeAlias = HasItems | Iterable[tuple[str, str]] | Iterable[tuple[bytes, bytes]]
"""Headers as any framework has them; pairs of bytes are those of an ASGI scope."""


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
    :param headers: the request's headers as the framework has them, names in any case.
    :param secret: the endpoint's secret, or several while it is being rotated.
    :param tolerance: how many seconds the webhook's time may differ from ours.
    :param now: our time in seconds since 1970, for tests.
    :raises WebhookVerificationError: when anything is wrong with the webhook or the secret; its `reason` says what.
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
    check_tolerance(tolerance)
    moment = time.time() if now is None else now
    if not math.isfinite(moment):
        raise ValueError("now must be seconds since 1970.")
    content = _bytes_of(body)
    keys = _keys_of(secret)
    told = _told_by(headers)
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not told.get(name):
            raise WebhookVerificationError("missing_header", f"The header {name} is missing.")
    timestamp = told["webhook-timestamp"]
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise WebhookVerificationError("invalid_timestamp", "webhook-timestamp is not whole seconds.")
    signed = f"{told['webhook-id']}.{timestamp}.".encode("latin-1", "replace") + content
    if not _is_signed(signed, told["webhook-signature"], keys):
        raise WebhookVerificationError("no_matching_signature", "No signature matches.")
    age = moment - int(timestamp)
    if age > tolerance:
        raise WebhookVerificationError("timestamp_too_old", "The webhook is too old.")
    if age < -tolerance:
        raise WebhookVerificationError("timestamp_too_new", "The webhook's time lies in the future.")
    return content, told


def check_tolerance(seconds: float) -> None:
    """Refuses what would let a webhook of any age pass, or none: a mistake of the program, not of the sender."""
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError("tolerance must be a number of seconds, 0 or more.")


def _bytes_of(body: object) -> bytes:
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(cast("bytes", body))
    raise TypeError(f"body must be the raw bytes of the request, before any parsing, not {type(body).__name__}.")


def _told_by(headers: object) -> dict[str, str]:
    items = getattr(headers, "items", None)
    try:
        told = dict(_text_pair(pair) for pair in (cast("Iterable[object]", headers) if items is None else items()))
    except (TypeError, ValueError):
        message = "headers must be a mapping, or pairs, of names and values, as the request has them."
        raise TypeError(message) from None
    return told


def _text_pair(pair: object) -> tuple[str, str]:
    if isinstance(pair, str):
        raise TypeError
    name, value = cast("tuple[object, object]", pair)
    if isinstance(name, bytes) and isinstance(value, bytes):
        return name.decode("latin-1").lower(), value.decode("latin-1")
    if isinstance(name, str) and isinstance(value, str):
        return name.lower(), value
    raise TypeError


def _keys_of(secret: object) -> list[bytes]:
    secrets: list[object] = [secret]
    if isinstance(secret, Iterable) and not isinstance(secret, (str, bytes, bytearray, Mapping)):
        secrets = list(cast("Iterable[object]", secret))
    if not secrets:
        raise WebhookVerificationError("invalid_secret", "No secret was given.")
    return [_key_of(one) for one in secrets]


def _key_of(secret: object) -> bytes:
    if not isinstance(secret, str):
        message = f"A webhook secret is text, not {type(secret).__name__}."
        raise WebhookVerificationError("invalid_secret", message)
    # Some stores cut the padding off. What Python makes of too much of it depends on its version, hence ours.
    text = secret.removeprefix(_SECRET_PREFIX).rstrip("=")
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        # Not chained and not repeated: the text is a secret.
        key = b""
    if not key:
        raise WebhookVerificationError("invalid_secret", "A webhook secret is whsec_ and base64.")
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
    except ValueError:
        # Not chained: the failure would keep the body.
        parsed = None
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
    raise WebhookVerificationError("invalid_payload", "The body is not a JSON object with event and data.")


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

        :param last_seq: the highest `seq` you have had, from your own records; None or 0 for a new endpoint: what came
            before the first webhook that it sees is not missing then.
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
