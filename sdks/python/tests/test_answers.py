# Answers that promise success and are something else, as from a wrong address: a typed error, never half a record.

from __future__ import annotations

import json
import pickle
from typing import Any

import httpx
import pytest

import tranche
from stub import PROJECT, Both, Stub, both, ok

__all__ = ["both"]

PAGE: dict[str, Any] = {"object": "list", "data": [], "has_more": False, "next_cursor": None}


def answer(text: str) -> httpx.Response:
    return httpx.Response(200, text=text, headers={"request-id": "req_9"})


@pytest.mark.parametrize(
    ("text", "came"),
    [
        ("{}", "an object without `object`"),
        ("null", "null"),
        ("[]", "an array"),
        ("", "nothing"),
        ("5", "a number"),
        ("true", "a boolean"),
        ('"ok"', "a string"),
        ('{"object":"payment","id":"pay_1"}', "`payment`"),
        ('{"object":7}', "an object without `object`"),
        (json.dumps({"object": "s3cret" * 50}), "an object of another kind"),
    ],
)
def test_a_record_that_is_none_is_an_error_that_says_what_came(both: Both, text: str, came: str) -> None:
    stub = Stub([answer(text)])
    with pytest.raises(tranche.UnexpectedAnswerError) as caught:
        both.call(stub, lambda client: client.projects.retrieve("prj_1"))
    error = caught.value
    assert isinstance(error, tranche.TrancheError)
    assert not isinstance(error, (tranche.ApiError, tranche.ApiConnectionError))
    assert "`project`" in str(error)
    assert came in str(error)
    assert "s3cret" not in str(error)
    assert (error.status, error.request_id) == (200, "req_9")
    assert len(stub.requests) == 1
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(copy), copy.status, copy.request_id) == (str(error), 200, "req_9")


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "null",
        "[]",
        "",
        json.dumps(PROJECT),
        json.dumps({**PAGE, "data": None}),
        json.dumps({**PAGE, "data": {}}),
        json.dumps({**PAGE, "data": [7]}),
        json.dumps({**PAGE, "data": [{**PROJECT, "created_at": 5}]}),
    ],
)
def test_a_list_that_is_none_is_an_error_and_not_an_empty_list(both: Both, text: str) -> None:
    stub = Stub([answer(text)])
    with pytest.raises(tranche.UnexpectedAnswerError) as caught:
        both.walk(stub, lambda client: client.projects.list())
    assert (caught.value.status, caught.value.request_id) == (200, "req_9")
    assert len(stub.requests) == 1


@pytest.mark.parametrize("values", [{"created_at": "soon"}, {"created_at": 5}, {"created_at": {}}])
def test_a_field_that_cannot_be_read_is_an_error_of_its_own(both: Both, values: dict[str, Any]) -> None:
    with pytest.raises(tranche.UnexpectedAnswerError) as caught:
        both.call(Stub([ok({**PROJECT, **values})]), lambda client: client.projects.retrieve("prj_1"))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("text", ["{}", "null", '{"object":"webhook_endpoint"}'])
def test_something_where_nothing_is_answered_is_an_error(both: Both, text: str) -> None:
    with pytest.raises(tranche.UnexpectedAnswerError, match="nothing"):
        both.call(Stub([answer(text)]), lambda client: client.webhook_endpoints.delete("whe_1"))


def test_a_path_without_a_method_may_answer_anything(both: Both) -> None:
    answers: list[tuple[str, Any]] = [("{}", {}), ("[1]", [1]), ("null", None), ("", None)]
    for text, value in answers:
        assert both.call(Stub([answer(text)]), lambda client: client.request("GET", "/v1/things")) == value
