# What is tried again, with which key and after which pause; and what is not.

from __future__ import annotations

from datetime import datetime, timezone

import httpx
import pytest

import tranche
from stub import PROJECT, Both, Stub, both, ok, problem
from tranche._retry import pause_seconds, retry_after_seconds

__all__ = ["both"]


def create(client: tranche.Tranche) -> object:
    return client.projects.create(name="n", client_id="c")


def retrieve(client: tranche.Tranche) -> object:
    return client.projects.retrieve("prj_1")


@pytest.mark.parametrize(
    "accident",
    [
        httpx.ConnectError("refused"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("incomplete"),
        httpx.ReadTimeout("slow"),
        httpx.PoolTimeout("busy"),
        problem(500, "internal_error"),
        problem(503, "overloaded"),
        problem(429, "rate_limited"),
        problem(408, "request_timeout"),
        httpx.Response(502, text="<h1>Bad gateway</h1>"),
        httpx.Response(200, text='{"id": "prj_'),
    ],
    ids=lambda accident: type(accident).__name__ + str(getattr(accident, "status_code", "")),
)
def test_a_passing_accident_is_tried_again_with_the_same_key(both: Both, accident: httpx.Response | Exception) -> None:
    stub = Stub([accident, accident, ok()])
    assert both.call(stub, create).id == PROJECT["id"]
    keys = stub.headers("idempotency-key")
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert keys[0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 415, 422, 501])
def test_an_answer_that_will_not_change_is_raised_at_once(both: Both, status: int) -> None:
    stub = Stub([problem(status, "some_code"), ok()])
    with pytest.raises(tranche.ApiError):
        both.call(stub, create)
    assert len(stub.requests) == 1


def test_a_request_that_cannot_be_sent_is_not_repeated(both: Both) -> None:
    stub = Stub([httpx.UnsupportedProtocol("no such scheme")])
    with pytest.raises(tranche.ApiConnectionError):
        both.call(stub, create)
    assert len(stub.requests) == 1


def test_each_call_has_a_key_of_its_own_and_reads_have_none(both: Both) -> None:
    stub = Stub([ok()])
    both.call(stub, create)
    both.call(stub, create)
    both.call(stub, retrieve)
    first, second, read = stub.headers("idempotency-key")
    assert first != second
    assert read is None


def test_the_callers_key_is_kept_over_all_attempts(both: Both) -> None:
    stub = Stub([problem(500, "internal_error"), ok()])
    both.call(stub, lambda client: client.projects.update("prj_1", name="n", idempotency_key="order-7"))
    assert stub.headers("idempotency-key") == ["order-7", "order-7"]


def test_the_last_error_is_raised_when_the_retries_are_used_up(both: Both) -> None:
    stub = Stub([httpx.ReadError("reset"), problem(503, "overloaded")])
    with pytest.raises(tranche.OverloadedError) as caught:
        both.call(stub, create, max_retries=3)
    assert len(stub.requests) == 4
    assert caught.value.response.attempts == 4
    timeouts = Stub([httpx.ReadTimeout("slow")])
    with pytest.raises(tranche.ApiTimeoutError):
        both.call(timeouts, lambda client: client.projects.retrieve("prj_1", max_retries=1))
    assert len(timeouts.requests) == 2


def test_retry_after_is_obeyed_up_to_a_minute(both: Both) -> None:
    stub = Stub([problem(429, "rate_limited", retry_after="17"), ok()])
    both.call(stub, retrieve)
    assert both.pauses == [17]
    with pytest.raises(tranche.RateLimitedError) as caught:
        both.call(Stub([problem(429, "rate_limited", retry_after="61")]), retrieve)
    assert caught.value.retry_after_seconds == 61
    assert both.pauses == [17]


def test_retry_after_may_be_a_date() -> None:
    now = datetime(2026, 3, 2, 9, 30, tzinfo=timezone.utc)
    assert retry_after_seconds({"retry-after": "Mon, 02 Mar 2026 09:30:25 GMT"}, now) == 25
    assert retry_after_seconds({"retry-after": "Mon, 02 Mar 2026 09:00:00 GMT"}, now) == 0
    assert retry_after_seconds({"retry-after": "soon"}, now) is None
    assert retry_after_seconds({}, now) is None


def test_pauses_double_up_to_a_bound_and_never_all_fall_together() -> None:
    longest = [pause_seconds(done, None, lambda: 0.0) for done in range(7)]
    shortest = [pause_seconds(done, None, lambda: 1.0) for done in range(7)]
    assert longest == [0.5, 1, 2, 4, 8, 8, 8]
    assert shortest == [0.25, 0.5, 1, 2, 4, 4, 4]
    assert pause_seconds(0, 0.1, lambda: 0.0) == 0.5
    assert pause_seconds(0, 60, lambda: 0.0) == 60
    assert pause_seconds(0, 60.1, lambda: 0.0) is None


def test_a_delete_whose_answer_was_lost_is_done(both: Both) -> None:
    stub = Stub([httpx.ReadError("reset"), problem(404, "not_found")])
    assert both.call(stub, lambda client: client.webhook_endpoints.delete("whe_1")) is None
    with pytest.raises(tranche.NotFoundError):
        both.call(Stub([problem(404, "not_found")]), lambda client: client.webhook_endpoints.delete("whe_1"))
    lost_read = Stub([httpx.ReadError("reset"), problem(404, "not_found")])
    with pytest.raises(tranche.NotFoundError):
        both.call(lost_read, lambda client: client.api_keys.revoke("key_1"))


def test_a_redirect_is_an_error_and_takes_the_key_nowhere(both: Both) -> None:
    stub = Stub([httpx.Response(307, headers={"location": "https://elsewhere.example"})])
    with pytest.raises(tranche.ApiError) as caught:
        both.call(stub, retrieve)
    assert caught.value.status == 307
    assert len(stub.requests) == 1


def test_an_answer_without_end_is_cut_off(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tranche._client_base.MAX_RESPONSE_BYTES", 100)
    with pytest.raises(tranche.ApiConnectionError, match="larger than 100 bytes"):
        both.call(Stub([ok()]), retrieve)
