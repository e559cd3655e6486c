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
        with pytest.raises(AttributeError):
            repr(made)
        names = dict.fromkeys(model.__dataclass_fields__)
        assert "whsec_or_tr_live" not in repr(model.from_dict({**names, "secret": "whsec_or_tr_live"}))


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
