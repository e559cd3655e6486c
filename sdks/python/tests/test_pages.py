# Going through lists: page by page, over all pages, backwards, and stopping early.

from __future__ import annotations

from typing import Any

import httpx

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


def test_a_server_that_leads_in_circles_is_left(both: Both) -> None:
    stub = Stub([listing(["a"], "a")])
    assert len(both.walk(stub, lambda client: client.projects.list(starting_after="a"))) == 1
    empty = Stub([listing([], "x")])
    assert both.walk(empty, lambda client: client.projects.list()) == []
    assert len(empty.requests) == 1


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
