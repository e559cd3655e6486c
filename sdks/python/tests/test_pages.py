# Going through lists: page by page, over all pages, backwards, and stopping early.

from __future__ import annotations

from typing import Any

import httpx
import pytest

import tranche
from stub import PROJECT, Both, Stub, both, ok

__all__ = ["both"]


def listing(ids: list[str], more: str | None, has_more: bool | None = None) -> httpx.Response:
    records = [{**PROJECT, "id": one} for one in ids]
    page = {"object": "list", "data": records, "has_more": more is not None, "next_cursor": more}
    return ok(page if has_more is None else {**page, "has_more": has_more})


def queries(stub: Stub) -> list[str]:
    return [request.url.query.decode() for request in stub.requests]


def test_a_walk_reads_one_page_after_the_other_with_the_same_filters(both: Both) -> None:
    stub = Stub([listing(["a", "b"], "b"), listing(["c"], None)])
    found = both.walk(stub, lambda client: client.projects.list(limit=2, status="active"))
    assert [one.id for one in found] == ["a", "b", "c"]
    assert queries(stub) == ["limit=2&status=active", "limit=2&starting_after=b&status=active"]


def test_events_go_on_by_their_number(both: Both) -> None:
    stub = Stub([listing(["a"], "1"), listing(["b"], None)])
    both.walk(stub, lambda client: client.events.list(after_seq=0))
    assert queries(stub) == ["after_seq=0", "after_seq=1"]


def test_the_log_read_backwards_goes_on_before_the_last_number(both: Both) -> None:
    stub = Stub([listing(["b"], "7"), listing(["a"], None)])
    both.walk(stub, lambda client: client.events.list(order="desc"))
    assert queries(stub) == ["order=desc", "before_seq=7&order=desc"]


def test_a_page_is_one_request_and_leads_on_to_the_next(both: Both) -> None:
    stub = Stub([listing(["a"], "a"), listing(["b"], None)])
    page = both.call(stub, lambda client: client.projects.list())
    assert len(stub.requests) == 1
    assert ([one.id for one in page.data], page.has_more, page.next_cursor) == (["a"], True, "a")
    assert page.last_response.status_code == 200
    assert page.to_dict()["data"][0]["created_at"] == PROJECT["created_at"]
    assert page.object == "list"


def test_ending_before_goes_towards_what_is_newer(both: Both) -> None:
    stub = Stub([listing(["d", "c"], "c", has_more=True), listing(["e"], "e", has_more=False)])
    found = both.walk(stub, lambda client: client.projects.list(ending_before="b"))
    assert [one.id for one in found] == ["c", "d", "e"]
    assert queries(stub) == ["ending_before=b", "ending_before=d"]


def test_a_page_without_items_is_gone_on_from_as_any_other(both: Both) -> None:
    stub = Stub([listing([], "x"), listing([], "y"), listing(["a"], None)])
    assert [one.id for one in both.walk(stub, lambda client: client.projects.list())] == ["a"]
    assert queries(stub) == ["", "starting_after=x", "starting_after=y"]


@pytest.mark.parametrize(
    ("page", "query"),
    [
        (listing(["a"], "a"), {"starting_after": "a"}),
        (listing(["a"], None, has_more=True), {}),
        (listing([], None, has_more=True), {"ending_before": "b"}),
        (listing(["b"], "b"), {"ending_before": "b"}),
    ],
    ids=["the same cursor", "no cursor", "no first item", "the same first item"],
)
def test_more_without_a_way_there_is_an_error_and_neither_an_end_nor_a_loop(
    both: Both, page: httpx.Response, query: dict[str, str]
) -> None:
    stub = Stub([page])
    found: list[Any] = []

    def walk(client: Any) -> Any:
        if both.kind == "sync":
            for one in client.projects.list(**query):
                found.append(one)
                assert len(found) < 5
            return None

        async def collect() -> None:
            async for one in client.projects.list(**query):
                found.append(one)
                assert len(found) < 5

        return collect()

    with pytest.raises(tranche.UnexpectedAnswerError, match=r"has_more.*status 200.*req_1") as caught:
        both.call(stub, walk)
    assert len(found) == len(page.json()["data"])
    assert (caught.value.status, caught.value.request_id) == (200, "req_1")
    assert len(stub.requests) == 1


def test_a_number_and_its_text_are_the_same_cursor(both: Both) -> None:
    stub = Stub([listing(["a"], "5")])
    with pytest.raises(tranche.UnexpectedAnswerError):
        both.walk(stub, lambda client: client.events.list(after_seq=5))
    assert len(stub.requests) == 1


def test_pages_can_be_walked_as_pages(both: Both) -> None:
    stub = Stub([listing(["a", "b"], "b"), listing(["c"], None)])

    def sizes(client: Any) -> Any:
        if both.kind == "sync":
            return [len(page.data) for page in client.projects.list().iter_pages()]

        async def collect() -> list[int]:
            first = await client.projects.list()
            return [len(page.data) async for page in first.iter_pages()]

        return collect()

    assert both.call(stub, sizes) == [2, 1]
