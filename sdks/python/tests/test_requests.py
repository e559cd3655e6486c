# What goes out: paths, queries, bodies, headers, and settings of a client and of one call.

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from functools import partial
from typing import Any

import httpx
import pytest

import tranche
from stub import API_KEY, PROJECT, Both, Stub, both, ok

__all__ = ["both"]

MILESTONE: dict[str, Any] = {**PROJECT, "object": "milestone", "id": "mil_1"}
NOTHING: dict[str, Any] = {"object": "list", "data": [], "has_more": False, "next_cursor": None}


def test_only_what_was_given_is_sent_and_none_is_null(both: Both) -> None:
    stub = Stub([ok(MILESTONE)])
    both.call(stub, lambda client: client.milestones.update("mil_1", due_date=None, title="T", metadata={"a": None}))
    both.call(stub, lambda client: client.milestones.update("mil_1", due_date=date(2027, 3, 31)))
    assert stub.bodies() == [{"title": "T", "due_date": None, "metadata": {"a": None}}, {"due_date": "2027-03-31"}]
    assert stub.headers("content-type") == ["application/json"] * 2


def test_queries_take_times_filters_and_metadata(both: Both) -> None:
    stub = Stub([ok(NOTHING)])
    since = datetime(2026, 3, 2, 10, 30, tzinfo=timezone(timedelta(hours=1)))
    both.call(stub, lambda client: client.projects.list(created_after=since, metadata={"a b": "c&d"}, limit=5))
    assert stub.requests[0].url.query == b"limit=5&created_after=2026-03-02T09%3A30%3A00.000Z&metadata%5Ba+b%5D=c%26d"
    with pytest.raises(ValueError, match="time zone"):
        both.call(stub, lambda client: client.projects.list(created_after=datetime(2026, 3, 2)))


def test_a_filter_has_a_short_name_and_both_names_are_a_mistake(both: Both) -> None:
    stub = Stub([ok(NOTHING)])
    both.call(stub, lambda client: client.payments.list(project="prj_1"))
    both.call(stub, lambda client: client.payments.list(project_id="prj_1"))
    assert {request.url.query for request in stub.requests} == {b"project_id=prj_1"}
    with pytest.raises(TypeError):
        both.call(stub, lambda client: client.payments.list(project_id="prj_1", project="prj_1"))


def retrieve_of(project_id: str, client: tranche.Tranche) -> object:
    return client.projects.retrieve(project_id)


def test_an_id_stays_one_segment_of_the_path(both: Both) -> None:
    stub = Stub([ok()])
    both.call(stub, lambda client: client.projects.retrieve("a/../b?c#d é%2f"))
    assert stub.requests[0].url.raw_path == b"/v1/projects/a%2F..%2Fb%3Fc%23d%20%C3%A9%252f"
    wrong_ids: list[Any] = ["", ".", "..", None]
    for wrong in wrong_ids:
        with pytest.raises(ValueError, match="project_id"):
            both.call(stub, partial(retrieve_of, wrong))
    assert len(stub.requests) == 1


def test_versions_and_etags_are_conditions(both: Both) -> None:
    stub = Stub([ok()])
    both.call(stub, lambda client: client.projects.update("prj_1", name="n", if_match=3))
    both.call(stub, lambda client: client.projects.update("prj_1", name="n", if_match='"4"'))
    both.call(stub, lambda client: client.projects.retrieve("prj_1", if_none_match=5))
    assert stub.headers("if-match") == ['"3"', '"4"', None]
    assert stub.headers("if-none-match") == [None, None, '"5"']
    # The tag of a response is sent back as it came, a weak one too.
    both.call(stub, lambda client: client.projects.update("prj_1", name="n", if_match='W/"4"'))
    assert stub.headers("if-match")[-1] == 'W/"4"'
    wrong: list[Any] = [True, 3.0, ["3"]]
    for condition in wrong:
        with pytest.raises(TypeError, match="version"):
            both.call(stub, partial(update_if, condition))
    assert len(stub.requests) == 4


def update_if(condition: Any, client: tranche.Tranche) -> object:
    return client.projects.update("prj_1", name="n", if_match=condition)


def test_nothing_new_is_an_api_error_with_status_304(both: Both) -> None:
    stub = Stub([httpx.Response(304, headers={"etag": '"5"', "request-id": "req_3"})])
    with pytest.raises(tranche.ApiError) as caught:
        both.call(stub, lambda client: client.projects.retrieve("prj_1", if_none_match=5))
    assert (caught.value.status, caught.value.code, caught.value.request_id) == (304, None, "req_3")
    assert len(stub.requests) == 1


def test_headers_of_one_call_replace_those_of_the_client(both: Both) -> None:
    stub = Stub([ok()])
    both.call(stub, lambda client: client.projects.retrieve("prj_1", headers={"X-Trace": "call", "User-Agent": "mine"}))
    both.call(stub, lambda client: client.projects.retrieve("prj_1"), headers={"X-Trace": "client"})
    assert stub.headers("x-trace") == ["call", "client"]
    assert stub.headers("user-agent")[0] == "mine"
    assert str(stub.headers("user-agent")[1]).startswith(f"tranche-python/{tranche.__version__} ")
    assert stub.headers("authorization") == [f"Bearer {API_KEY}"] * 2


def test_the_address_may_have_a_path_and_a_slash_at_its_end(both: Both) -> None:
    stub = Stub([ok()])
    both.call(stub, lambda client: client.projects.retrieve("prj_1"), base_url="https://api.example.com:8443/tranche/")
    assert str(stub.requests[0].url) == "https://api.example.com:8443/tranche/v1/projects/prj_1"
    assert stub.headers("host") == ["api.example.com:8443"]


def test_the_environment_tells_key_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANCHE_API_KEY", API_KEY)
    monkeypatch.setenv("TRANCHE_BASE_URL", "http://10.0.0.7:9000")
    with tranche.Tranche() as client:
        assert client.base_url == "http://10.0.0.7:9000"
    monkeypatch.delenv("TRANCHE_BASE_URL")
    with tranche.Tranche() as client:
        assert client.base_url == "http://127.0.0.1:8080"
    monkeypatch.delenv("TRANCHE_API_KEY")
    with pytest.raises(ValueError, match="API key"):
        tranche.Tranche()


@pytest.mark.parametrize(
    "make",
    [
        lambda: tranche.Tranche(API_KEY, base_url="ftp://x"),
        lambda: tranche.Tranche(API_KEY, base_url="localhost:8080"),
        lambda: tranche.Tranche(API_KEY, base_url="https://user:password@example.com"),
        lambda: tranche.Tranche(API_KEY, max_retries=-1),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"base_url|max_retries"):
        make()


def test_a_timeout_is_handed_down_and_can_be_none(both: Both) -> None:
    stub = Stub([ok()])
    both.call(stub, lambda client: client.projects.retrieve("prj_1"))
    both.call(stub, lambda client: client.projects.retrieve("prj_1", timeout=2.5))
    both.call(stub, lambda client: client.projects.retrieve("prj_1", timeout=None))
    assert [request.extensions["timeout"]["read"] for request in stub.requests] == [30, 2.5, None]


def test_the_response_of_a_call_is_at_hand(both: Both) -> None:
    told: dict[str, Any] = {
        "ratelimit_policy": '"default";q=1000;w=60',
        "ratelimit": '"default";r=998;t=41',
        "etag": '"3"',
    }
    project = both.call(Stub([ok(**told)]), lambda client: client.projects.retrieve("prj_1"))
    response = project.last_response
    assert (response.status_code, response.request_id, response.etag) == (200, "req_1", '"3"')
    assert response.rate_limit == tranche.RateLimit(limit=1000, window_seconds=60, remaining=998, reset_seconds=41)
    assert response.json() == PROJECT
    gone = Stub([httpx.Response(204, headers={"request-id": "req_2"})])
    result, response = both.call(gone, lambda client: client.with_response(client.webhook_endpoints.delete, "whe_1"))
    assert result is None
    assert (response.status_code, response.request_id) == (204, "req_2")
    assert response.rate_limit == tranche.RateLimit(None, None, None, None)


def test_a_path_without_a_method_of_its_own_can_be_called(both: Both) -> None:
    stub = Stub([ok({"new": True})])
    made = both.call(stub, lambda client: client.request("post", "/v1/things", query={"a": 1}, body={"b": 2}))
    assert made == {"new": True}
    assert (stub.requests[0].method, stub.requests[0].url.raw_path) == ("POST", b"/v1/things?a=1")
    assert stub.headers("idempotency-key")[0]


def test_a_client_closes_what_it_opened_and_nothing_else() -> None:
    own = httpx.Client(transport=Stub([ok()]))
    with tranche.Tranche(API_KEY, http_client=own) as client:
        client.projects.retrieve("prj_1")
    assert not own.is_closed
    own.close()
    other = tranche.Tranche(API_KEY)
    other.close()
    with pytest.raises(RuntimeError):
        other.projects.retrieve("prj_1")
