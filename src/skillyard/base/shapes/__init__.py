"""Every JSON document as a frozen dataclass: its members, their types and what each one means.

A member that has a default is left out of the JSON when it holds the default; every other member
is always there. :func:`~skillyard.base.shapes.encoder.encode` makes JSON of a shape. The JSON
Schemas of the service, its OpenAPI components and the client's decoding are derived from these
classes. The classes import nothing, so every wing can use them, and each surface loads only the
modules of the documents that it writes. An annotation that names ``shapes.details`` loads that
module when the annotation is evaluated, which no command does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

if TYPE_CHECKING:
    from skillyard.base.shapes import details as details

__all__ = ["Note", "Schema", "details"]

_Name = TypeVar("_Name")
Schema = Annotated[_Name, "Name and version of this shape."]
"""The type of the member ``schema``, around the literal that is its only value."""
Note = Annotated[str | None, "Why another scorer answered than the default one."]


def __getattr__(name: str) -> Any:
    if name != "details":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module(f"{__name__}.details")
