# Pages of a list and the walk over all of them, for the sync and the async client.
# Knows no resource: which parameter leads on is told by the generated code.

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from ._errors import UnexpectedAnswerError
from ._model import Model
from ._response import ApiResponse
from ._unexpected import mismatch
from ._values import NOT_GIVEN, to_jsonable

T = TypeVar("T")


class ListRequest(Generic[T]):
    """What is needed to read a page of a list, and the pages after it."""

    __slots__ = ("convert", "cursor", "options", "path", "query")

    def __init__(
        self,
        path: str,
        convert: Callable[[dict[str, Any]], T],
        cursor: str,
        query: Mapping[str, object],
        options: Mapping[str, Any],
    ) -> None:
        self.path = path
        self.convert = convert
        self.cursor = cursor
        self.query = query
        self.options = options

    @property
    def backwards(self) -> bool:
        """Whether this goes towards newer records, as `ending_before` does."""
        return self.query.get("ending_before", NOT_GIVEN) is not NOT_GIVEN

    def after(self, page: BasePage[T]) -> ListRequest[T] | None:
        """The request for the page that follows, in the direction of this one; None when there is none."""
        if not page.has_more:
            return None
        if self.backwards:
            first = page.data[0] if page.data else None
            return self._moved("ending_before", getattr(first, "id", None), page)
        # The event log can be read in either direction.
        cursor = "before_seq" if self.query.get("order") == "desc" else self.cursor
        return self._moved(cursor, page.next_cursor, page)

    def _moved(self, name: str, value: object, page: BasePage[T]) -> ListRequest[T]:
        told = page.last_response
        if value is None:
            problem = "has_more is true, and there is nothing to go on with"
            raise UnexpectedAnswerError(problem, told.status_code, told.request_id)
        # It would read the same page for ever. What the caller gave may be a number, what comes is text.
        if str(value) == str(self.query.get(name)):
            problem = f"has_more is true, and leads on to the same {name} again"
            raise UnexpectedAnswerError(problem, told.status_code, told.request_id)
        return ListRequest(self.path, self.convert, self.cursor, {**self.query, name: value}, self.options)


class BasePage(Generic[T]):
    """One page of a list."""

    def __init__(self, request: ListRequest[T], parsed: Any) -> None:
        values = _list_of(parsed)
        convert = request.convert
        self._request = request
        self._values = values
        self.data: Sequence[T] = [convert(item) for item in values["data"]]
        """The records of this page."""
        self.has_more: bool = values.get("has_more") is True
        """Whether there is more in the direction of the paging."""
        self.next_cursor: str | None = values.get("next_cursor")
        """What leads on to the next page; None when there is none."""
        self.last_response: ApiResponse
        """The HTTP response that this page came with."""

    @property
    def object(self) -> str:
        """Always `list`."""
        return str(self._values.get("object", "list"))

    def to_dict(self) -> dict[str, Any]:
        """The page as the API sent it, ready for `json.dumps`."""
        data = [item.to_dict() if isinstance(item, Model) else to_jsonable(item) for item in self.data]
        return {**self._values, "data": data}

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(data={self.data!r}, has_more={self.has_more!r}, next_cursor={self.next_cursor!r})"
        )

    def _in_order(self) -> Iterator[T]:
        # With ending_before each page still comes newest first; turned round, the walk has one direction.
        return iter(reversed(self.data)) if self._request.backwards else iter(self.data)


def _list_of(parsed: object) -> dict[str, Any]:
    expected = "`list` with an array `data`"
    if not isinstance(parsed, dict):
        raise mismatch(expected, parsed)
    values = cast("dict[str, Any]", parsed)
    if values.get("object") != "list" or not isinstance(values.get("data"), list):
        raise mismatch(expected, values)
    return values


class Page(BasePage[T]):
    """
    One page of a list. Iterating over it goes on over all pages that follow.

    Without `ending_before` that is from the newest to the oldest (events: oldest first); with it, from there to
    the newest.
    """

    def __init__(self, request: ListRequest[T], parsed: Any, read: Callable[[ListRequest[T]], Page[T]]) -> None:
        super().__init__(request, parsed)
        self._read = read

    def next_page(self) -> Page[T] | None:
        """The page that follows; None after the last."""
        request = self._request.after(self)
        return None if request is None else self._read(request)

    def iter_pages(self) -> Iterator[Page[T]]:
        """This page and all that follow."""
        page: Page[T] | None = self
        while page is not None:
            yield page
            page = page.next_page()

    def __iter__(self) -> Iterator[T]:
        for page in self.iter_pages():
            yield from page._in_order()

    auto_paging_iter = __iter__


class AsyncPage(BasePage[T]):
    """One page of a list. `async for` over it goes on over all pages that follow, as with `Page`."""

    def __init__(
        self,
        request: ListRequest[T],
        parsed: Any,
        read: Callable[[ListRequest[T]], Awaitable[AsyncPage[T]]],
    ) -> None:
        super().__init__(request, parsed)
        self._read = read

    async def next_page(self) -> AsyncPage[T] | None:
        """The page that follows; None after the last."""
        request = self._request.after(self)
        return None if request is None else await self._read(request)

    async def iter_pages(self) -> AsyncIterator[AsyncPage[T]]:
        """This page and all that follow."""
        page: AsyncPage[T] | None = self
        while page is not None:
            yield page
            page = await page.next_page()

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.iter_pages():
            for item in page._in_order():
                yield item

    auto_paging_iter = __aiter__


class AsyncList(Generic[T]):
    """
    A list that has not been asked for yet.

    `await` it for its first page, or walk over all its records with `async for`, without an `await`.
    """

    def __init__(self, request: ListRequest[T], read: Callable[[ListRequest[T]], Awaitable[AsyncPage[T]]]) -> None:
        self._request = request
        self._read = read

    def __await__(self) -> Generator[Any, None, AsyncPage[T]]:
        return self._read(self._request).__await__()

    async def __aiter__(self) -> AsyncIterator[T]:
        page = await self._read(self._request)
        async for item in page:
            yield item

    auto_paging_iter = __aiter__
