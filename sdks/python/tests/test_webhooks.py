# Webhooks: the vectors of the Standard Webhooks specification, its own library as the signer, and everything that must be refused.

from __future__ import annotations

import base64
import hmac
import json
from datetime import datetime, timezone
from http.client import HTTPMessage
from typing import Any

import httpx
import pytest
import standardwebhooks

import tranche
import tranche.webhooks
from stub import API_KEY
from tranche.types import Event, PaymentReleasedWebhook, UnknownWebhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(b"another secret of thirty-two b..").decode()
NOW = 1_614_265_330
DATA = {"projectId": "prj_1", "milestoneId": "mil_1", "amount": 150000, "currency": "USD"}
BODY = json.dumps({"event": "payment.released", "data": DATA}).encode()


def signed(body: bytes = BODY, *secrets: str, at: int = NOW, **more: str) -> dict[str, str]:
    """Headers that the specification's own library makes."""
    moment = datetime.fromtimestamp(at, timezone.utc)
    signatures = [
        standardwebhooks.Webhook(secret).sign(msg_id="evt_1", timestamp=moment, data=body.decode())
        for secret in secrets or (SECRET,)
    ]
    told = {name.replace("_", "-"): text for name, text in more.items()}
    return {"webhook-id": "evt_1", "webhook-timestamp": str(at), "webhook-signature": " ".join(signatures), **told}


def reason(body: bytes, headers: Any, secret: Any = SECRET, now: float = NOW) -> str:
    with pytest.raises(tranche.WebhookVerificationError) as caught:
        tranche.webhooks.verify(body, headers, secret, now=now)
    return caught.value.reason


def test_the_vector_of_the_specification_verifies() -> None:
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    tranche.webhooks.verify_signature(b'{"test": 2432232314}', headers, SECRET, now=NOW)
    assert reason(b'{"test": 2432232315}', headers) == "no_matching_signature"


def test_a_verified_webhook_is_a_typed_event() -> None:
    headers = signed(tranche_seq="7", tranche_prev_seq="5", tranche_attempt="2")
    event = tranche.webhooks.verify(BODY, headers, SECRET, now=NOW)
    assert isinstance(event, PaymentReleasedWebhook)
    assert (event.event, event.data.amount, event.data.project_id) == ("payment.released", 150000, "prj_1")
    assert (event.id, event.timestamp, event.seq, event.prev_seq, event.attempt) == ("evt_1", NOW, 7, 5, 2)
    assert event.to_dict()["data"] == DATA


def test_a_kind_that_is_newer_than_the_client_is_passed_through() -> None:
    body = b'{"event":"project.sang","data":{"a":[1]},"more":1}'
    event = tranche.webhooks.verify(body, signed(body), SECRET, now=NOW)
    assert isinstance(event, UnknownWebhook)
    assert (event.event, event.data) == ("project.sang", {"a": [1]})


@pytest.mark.parametrize("secrets", [(SECRET,), (OTHER, SECRET), (SECRET, OTHER)])
def test_while_secrets_rotate_any_of_either_side_will_do(secrets: tuple[str, ...]) -> None:
    assert tranche.webhooks.verify(BODY, signed(BODY, *secrets), SECRET, now=NOW)
    assert tranche.webhooks.verify(BODY, signed(), list(secrets), now=NOW)
    assert tranche.webhooks.verify(BODY, signed(), SECRET.removeprefix("whsec_"), now=NOW)
    assert reason(BODY, signed(BODY, OTHER)) == "no_matching_signature"


@pytest.mark.parametrize("body", [BODY, BODY.decode(), bytearray(BODY), memoryview(BODY)])
def test_the_body_may_come_in_any_form_of_bytes(body: Any) -> None:
    assert tranche.webhooks.verify(body, signed(), SECRET, now=NOW)


def test_headers_may_come_in_any_case_and_as_pairs() -> None:
    assert tranche.webhooks.verify(BODY, {name.title(): value for name, value in signed().items()}, SECRET, now=NOW)
    assert tranche.webhooks.verify(BODY, list(signed().items()), SECRET, now=NOW)


def test_the_tolerance_holds_in_both_directions_bounds_included() -> None:
    for now in (NOW - 300, NOW + 300):
        assert tranche.webhooks.verify(BODY, signed(), SECRET, now=now)
    assert reason(BODY, signed(), now=NOW + 301) == "timestamp_too_old"
    assert reason(BODY, signed(), now=NOW - 301) == "timestamp_too_new"
    assert tranche.webhooks.verify(BODY, signed(), SECRET, now=NOW + 301, tolerance=301)


@pytest.mark.parametrize("tolerance", [float("nan"), float("inf"), float("-inf"), -1])
def test_a_tolerance_that_would_let_everything_or_nothing_pass_is_a_mistake_of_the_caller(tolerance: float) -> None:
    with pytest.raises(ValueError, match="tolerance"):
        tranche.webhooks.verify(BODY, signed(), SECRET, now=NOW, tolerance=tolerance)
    with pytest.raises(ValueError, match="tolerance"):
        tranche.webhooks.verify_signature(BODY, signed(), SECRET, now=NOW, tolerance=tolerance)
    with pytest.raises(ValueError, match="now"):
        tranche.webhooks.verify(BODY, signed(), SECRET, now=float("nan"))
    assert tranche.webhooks.verify(BODY, signed(), SECRET, now=NOW, tolerance=0)


def test_headers_of_http_server_and_of_an_asgi_scope_are_understood() -> None:
    message = HTTPMessage()
    for name, value in signed(tranche_seq="7").items():
        message[name.title()] = value
    assert tranche.webhooks.verify(BODY, message, SECRET, now=NOW).seq == 7
    scope = [(name.encode(), value.encode()) for name, value in signed(tranche_seq="7").items()]
    assert tranche.webhooks.verify(BODY, scope, SECRET, now=NOW).seq == 7
    assert tranche.webhooks.verify(BODY, httpx.Headers(signed(tranche_seq="7")), SECRET, now=NOW).seq == 7


@pytest.mark.parametrize("padding", ["", "=", "=="])
def test_a_secret_may_come_without_its_padding(padding: str) -> None:
    secret = "whsec_" + base64.b64encode(b"b" * (24 + 2 * len(padding))).decode()
    assert secret.count("=") == len(padding)
    for given in (secret, secret.rstrip("="), secret.rstrip("=").removeprefix("whsec_")):
        assert tranche.webhooks.verify(BODY, signed(BODY, secret), given, now=NOW)
    assert reason(BODY, signed(), "whsec_AAAAA") == "invalid_secret"
    assert reason(BODY, signed(), "whsec_AA=A") == "invalid_secret"


@pytest.mark.parametrize("secret", [None, 5, b"whsec_AAAA", [None], [SECRET, None], {}])
def test_a_secret_that_is_none_is_told_as_such(secret: Any) -> None:
    with pytest.raises(
        tranche.WebhookVerificationError, match=r"secret.*(NoneType|int|bytes|dict)|No secret"
    ) as caught:
        tranche.webhooks.verify(BODY, signed(), secret, now=NOW)
    assert caught.value.reason == "invalid_secret"
    assert "AAAA" not in str(caught.value)


@pytest.mark.parametrize("body", [json.loads(BODY), None, 5, ["x"]])
def test_a_body_that_was_parsed_already_is_a_mistake_of_the_caller(body: Any) -> None:
    with pytest.raises(TypeError, match="raw bytes"):
        tranche.webhooks.verify(body, signed(), SECRET, now=NOW)


@pytest.mark.parametrize("headers", [None, 5, "webhook-id: x", [1], ["webhook-id"], {"webhook-id": ["a"]}])
def test_headers_that_are_none_are_a_mistake_of_the_caller(headers: Any) -> None:
    with pytest.raises(TypeError, match="headers must be"):
        tranche.webhooks.verify(BODY, headers, SECRET, now=NOW)


def test_a_payload_that_is_no_json_is_not_kept_in_the_chain() -> None:
    with pytest.raises(tranche.WebhookVerificationError) as caught:
        tranche.webhooks.verify(b"hello", signed(b"hello"), SECRET, now=NOW)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_what_is_not_as_it_should_be_is_refused_with_its_reason() -> None:
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        assert reason(BODY, {**signed(), name: ""}) == "missing_header"
        assert reason(BODY, {other: value for other, value in signed().items() if other != name}) == "missing_header"
    for timestamp in ("1614265330.5", "-1614265330", "x", "²", "9" * 4301):
        assert reason(BODY, {**signed(), "webhook-timestamp": timestamp}) == "invalid_timestamp"
    right = signed()["webhook-signature"].replace("v1,", "v2,")
    for signature in (
        "v1,",
        "v1",
        "v2,AAAA",
        "garbage",
        "v1,é",
        signed()["webhook-signature"].removeprefix("v1,"),
        right,
    ):
        assert reason(BODY, {**signed(), "webhook-signature": signature}) == "no_matching_signature"
    assert reason(BODY, {**signed(), "webhook-id": "evt_é"}) == "no_matching_signature"
    for body in (b"hello", b"[]", b'{"event":1,"data":{}}', b'{"event":"a","data":[]}', b'{"event":"a"}'):
        assert reason(body, signed(body)) == "invalid_payload"
    unusable: list[Any] = ["", "whsec_", "whsec_!!!", "é", []]
    for secret in unusable:
        assert reason(BODY, signed(), secret) == "invalid_secret"


def test_every_signature_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []
    real = hmac.compare_digest

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return real(one, other)

    monkeypatch.setattr("tranche.webhooks.hmac.compare_digest", compare)
    tranche.webhooks.verify(BODY, signed(BODY, SECRET, OTHER), [SECRET, OTHER], now=NOW)
    assert len(compared) == 4


def test_a_record_of_the_event_log_becomes_the_same_typed_event() -> None:
    record = Event.from_dict(
        {
            "id": "evt_1",
            "object": "event",
            "seq": 4,
            "type": "payment.released",
            "created_at": "2026-03-21T08:00:00.000Z",
            "data": DATA,
        }
    )
    with tranche.Tranche(API_KEY) as client:
        event = client.webhooks.event_of(record)
    assert isinstance(event, PaymentReleasedWebhook)
    assert (event.id, event.seq, event.prev_seq, event.data.milestone_id) == ("evt_1", 4, None, "mil_1")
    assert record.data == DATA
