"""A shape as JSON has it: the one encoder of the commands, the services and the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

Shape = TypeVar("Shape")


class ClientDocument:
    """Base of the documents that a client returns."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document."""
        members: dict[str, Any] = encode(self)
        return members


_SCALARS = frozenset({str, int, float, bool, type(None)})


def encode(value: Any) -> Any:
    """Return a shape as dictionaries, lists and scalars, its members in their order.

    A value with a ``document()`` stands for the shape that this returns.
    """
    kind: Any = type(value)
    if kind in _SCALARS:
        return value
    if hasattr(value, "document"):
        return encode(value.document())
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    members = _members(kind)
    if members is None:  # a scalar's subclass, as frontmatter may hold: json knows how to write it
        return value
    encoded = {}
    for name, default in members:
        item = getattr(value, name)
        if default is MISSING or item != default:
            encoded[name] = item if type(item) in _SCALARS else encode(item)
    return encoded


@cache
def _members(kind: type) -> tuple[tuple[str, Any], ...] | None:
    """Return the members of a shape, each with the default with which it is left out."""
    if not hasattr(kind, "__dataclass_fields__"):
        return None
    return tuple(
        (each.name, MISSING if each.name == "schema" else each.default) for each in fields(kind)
    )


def from_attributes(kind: type[Shape], source: object, /, **members: Any) -> Shape:
    """Return a shape whose members are the attributes of ``source``, but for those given."""
    of_kind: Any = kind
    names = (name for name, _ in _members(of_kind) or () if name not in {"schema", *members})
    return kind(**members, **{name: attrgetter(name)(source) for name in names})
