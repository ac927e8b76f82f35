"""Convert decoded shapes into the values of the Python API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any

from skillyard.base.errors import Diagnostic
from skillyard.base.shapes import details, matches
from skillyard.base.shapes.encoder import encode
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.scorer import Explanation

_SHARED: Mapping[type, Callable[..., Any]] = {
    details.Diagnostic: Diagnostic,
    details.Explanation: Explanation,
    matches.Query: Query,
}

NONE: Mapping[type, Callable[..., Any]] = MappingProxyType({})


class Value:
    """Base of every result of a client."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the document that the service sent."""
        members: dict[str, Any] = encode(self)
        return members


def value_of(shape: Any, values: Mapping[type, Callable[..., Any]] = NONE) -> Any:
    """Convert a shape and its members; ``values`` maps shapes to the client's types.

    Shapes without an entry stay as they are.
    """
    if isinstance(shape, tuple):
        return tuple(value_of(item, values) for item in shape)
    if not is_dataclass(shape):
        return shape
    members = {each.name: value_of(getattr(shape, each.name), values) for each in fields(shape)}
    kind: Any = type(shape)
    return (values.get(kind) or _SHARED.get(kind) or kind)(**members)
