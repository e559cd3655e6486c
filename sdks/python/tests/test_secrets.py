# Secrets stay secret: no API key and no webhook secret in anything that is printed, logged or raised.

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable

import httpx
import pytest

import tranche
import tranche.webhooks
from stub import API_KEY, Both, Stub, both, ok, problem
from tranche.types import ApiKeyWithSecret, WebhookEndpointWithSecret

__all__ = ["both"]

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.mark.parametrize(
    "answer",
    [ok(), problem(401, "invalid_api_key"), httpx.ConnectError("refused"), httpx.Response(502, text="bad")],
    ids=["success", "refusal", "no answer", "no problem document"],
)
def test_the_key_is_in_no_log_error_or_printed_client(
    both: Both, answer: httpx.Response | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def retrieve(client: tranche.Tranche) -> object:
        seen.append(repr(client) + str(client) + repr(vars(client)))
        return client.projects.retrieve("prj_1")

    with caplog.at_level(logging.DEBUG):
        try:
            project = both.call(Stub([answer]), retrieve, max_retries=1)
            seen.append(repr(project) + repr(project.last_response) + repr(project.last_response.headers))
        except tranche.TrancheError as error:
            seen.append("".join(traceback.format_exception(error)) + repr(error) + repr(vars(error)))
    assert API_KEY not in "".join(seen) + caplog.text
    assert "tr_live" not in "".join(seen) + caplog.text


@pytest.mark.parametrize("key", ["tr_live_\nX-Evil: 1", "tr live", "tr_live_é", "tr_live_\x00"])
def test_a_malformed_key_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(ValueError, match="api_key must be") as caught:
        tranche.Tranche(key)
    assert "tr_live" not in "".join(traceback.format_exception(caught.value)).split("ValueError:")[1]


def test_printed_models_hide_their_secrets() -> None:
    for model in (ApiKeyWithSecret, WebhookEndpointWithSecret):
        made = model.from_dict({"id": "x_1", "object": "x", "secret": "whsec_or_tr_live"})
        assert made.secret == "whsec_or_tr_live"
        assert repr(made) == f"{model.__name__}(id='x_1', object='x', secret=[secret])"
        names = dict.fromkeys(model.__dataclass_fields__)
        assert "whsec_or_tr_live" not in repr(model.from_dict({**names, "secret": "whsec_or_tr_live"}))


def chain(error: BaseException | None) -> list[BaseException]:
    """An error and all that came before it, shown or not."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


@pytest.mark.parametrize(
    "value", ["topsecret\n", "topsecret\r\nX-Evil: 1", "topsecret\u20ac", "topsecret\x00", " topsecret"]
)
def test_a_malformed_header_is_refused_before_anything_is_sent_and_without_its_value(both: Both, value: str) -> None:
    stub = Stub([ok()])
    headers = {"X-Access-Secret": value}
    attempts: list[Callable[[], object]] = [
        lambda: both.call(stub, lambda client: client.projects.retrieve("prj_1", headers=headers)),
        lambda: both.call(stub, lambda client: client.projects.retrieve("prj_1"), headers=headers),
        lambda: both.call(stub, lambda client: client.projects.retrieve("prj_1", if_none_match=value)),
        lambda: both.call(stub, lambda client: client.projects.create(name="n", client_id="c", idempotency_key=value)),
    ]
    for attempt in attempts:
        with pytest.raises(ValueError, match=r"X-Access-Secret|if_none_match|idempotency_key") as caught:
            attempt()
        assert "topsecret" not in "".join(str(one) + repr(vars(one)) for one in chain(caught.value))
        assert not any(isinstance(one, UnicodeError) for one in chain(caught.value))
    assert stub.requests == []


@pytest.mark.parametrize("name", ["X Secret", "", "X-\u00e9", "X:Y", "X\nY"])
def test_a_malformed_header_name_is_refused_before_anything_is_sent(both: Both, name: str) -> None:
    stub = Stub([ok()])
    with pytest.raises(ValueError, match="name of a header"):
        both.call(stub, lambda client: client.projects.retrieve("prj_1", headers={name: "topsecret"}))
    with pytest.raises(ValueError, match="name of a header"):
        both.call(stub, lambda client: client.projects.retrieve("prj_1"), headers={name: "topsecret"})
    assert stub.requests == []


def test_the_chain_of_an_error_holds_neither_headers_nor_bodies(both: Both) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.LocalProtocolError(f"Illegal header value {request.headers['x-access-secret']!r}")

    def fail(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("reset")

    def broken(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text='{"secret":"topsecret"')

    for answer in (refuse, fail, broken):
        with pytest.raises(tranche.ApiConnectionError) as caught:
            both.call(
                Stub([answer]),
                lambda client: client.projects.retrieve(
                    "prj_1", headers={"X-Access-Secret": "topsecret"}, max_retries=1
                ),
            )
        for one in chain(caught.value):
            told = str(one) + repr(vars(one)) + str(getattr(one, "doc", ""))
            request = vars(one).get("_request")
            if request is not None:
                told += repr(request.headers.raw)
            assert "topsecret" not in told
            assert "tr_live" not in told
        if answer is fail:
            assert isinstance(caught.value.__cause__, httpx.ReadError)


@pytest.mark.parametrize(
    "verify",
    [
        lambda: tranche.webhooks.verify(b"{}", {}, SECRET + "!"),
        lambda: tranche.webhooks.verify(b"{}", {}, SECRET),
        lambda: tranche.webhooks.verify(
            b"{}", {"webhook-id": "a", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA"}, SECRET, now=1
        ),
    ],
)
def test_no_webhook_secret_is_in_an_error(verify: Callable[[], object]) -> None:
    with pytest.raises(tranche.WebhookVerificationError) as caught:
        verify()
    told = str(caught.value) + repr(caught.value) + repr(vars(caught.value))
    assert "MfKQ9r8" not in told
    assert caught.value.__cause__ is None
