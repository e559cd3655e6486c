# The base of every generated model: from JSON to typed attributes and back.
# Does no validation: the server has done that, and a client that checked shapes would break when a field is added.

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from ._unexpected import mismatch
from ._values import to_jsonable

if TYPE_CHECKING:
    from ._response import ApiResponse

ModelT = TypeVar("ModelT", bound="Model")

_RESPONSE = "_last_response"


class Model:
    """
    A value of the API with typed attributes.

    The decoded JSON object itself becomes the attributes, so a field that this version of the client does not
    know yet is there too (`getattr(project, "new_field")`), and making an object costs next to nothing.
    """

    # Set by the generated code: which fields hold more than plain JSON, and how to read them.
    _converters: ClassVar[tuple[tuple[str, Callable[[Any], Any]], ...]] = ()
    # Where a field's attribute has another name than the JSON: {"projectId": "project_id"}.
    _attributes: ClassVar[dict[str, str]] = {}
    # The `object` by which an answer says that it is this; None for what is part of others.
    _object: ClassVar[str | None] = None

    @classmethod
    def _adopt(cls: type[ModelT], values: dict[str, Any]) -> ModelT:
        """Makes the model out of freshly decoded JSON, which it keeps and changes."""
        if cls._attributes:
            names = cls._attributes
            values = {names.get(name, name): value for name, value in values.items()}
        for name, convert in cls._converters:
            value = values.get(name)
            if value is not None:
                values[name] = convert(value)
        model = object.__new__(cls)
        object.__setattr__(model, "__dict__", values)
        return model

    @classmethod
    def _answer(cls: type[ModelT], parsed: Any) -> ModelT:
        """Makes the model out of a whole answer, which may come from somewhere else altogether."""
        if not isinstance(parsed, dict) or cast("dict[str, Any]", parsed).get("object") != cls._object:
            raise mismatch(f"`{cls._object}`", cast("object", parsed))
        return cls._adopt(cast("dict[str, Any]", parsed))

    @classmethod
    def from_dict(cls: type[ModelT], values: Mapping[str, Any]) -> ModelT:
        """Makes the model out of the API's JSON, say one that you stored with `to_dict()`."""
        return cls._adopt(copy.deepcopy(dict(values)))

    def to_dict(self) -> dict[str, Any]:
        """The JSON object as the API sent it, unknown fields included; ready for `json.dumps`."""
        names = {attribute: name for name, attribute in self._attributes.items()}
        return {names.get(name, name): to_jsonable(value) for name, value in self.__dict__.items() if name != _RESPONSE}

    @property
    def last_response(self) -> ApiResponse:
        """The HTTP response that this came with: status, headers, request id, rate limit."""
        response: ApiResponse | None = self.__dict__.get(_RESPONSE)
        if response is None:
            raise LookupError(
                f"This {type(self).__name__} is part of a larger answer; the outermost object has last_response."
            )
        return response

    def _state(self) -> dict[str, Any]:
        """What is there: a server older than this client leaves fields out, a newer one sends more."""
        known = {field.name: getattr(self, field.name) for field in _fields(self) if hasattr(self, field.name)}
        return {**known, **{name: value for name, value in self.__dict__.items() if name != _RESPONSE}}

    # Those that a dataclass would have stop at a field that is not there.
    def __repr__(self) -> str:
        state = self._state()
        shown = [
            f"{field.name}={state[field.name]!r}" if field.repr else f"{field.name}=[secret]"
            for field in _fields(self)
            if field.name in state
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model) or type(other) is not type(self):
            return NotImplemented
        return self._state() == other._state()

    def __hash__(self) -> int:
        return hash((type(self), self.__dict__.get("id")))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            kind = type(self).__name__
            raise AttributeError(f"This {kind} has no {name!r}. A server older than this client may not send it yet.")


def _fields(model: Model) -> tuple[dataclasses.Field[Any], ...]:
    # Every model is a dataclass; this base of theirs alone is none.
    return dataclasses.fields(cast("Any", model))


def attach_response(model: Model, response: ApiResponse) -> None:
    """Remembers on a model which response it came with."""
    model.__dict__[_RESPONSE] = response


def list_of(convert: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    """A converter of lists out of the converter of their items."""
    return lambda items: [convert(item) for item in items]


def map_of(convert: Callable[[Any], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A converter of string-keyed objects out of the converter of their values."""
    return lambda items: {key: convert(item) for key, item in items.items()}
