"""JSON Schema of the shapes, as msgspec reads it off them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec.json import schema_components

__all__ = ["Schema", "components_of"]

Schema = dict[str, Any]


def components_of(shapes: Iterable[type], ref_template: str) -> dict[str, Schema]:
    """Return the schemas of shapes and of the shapes in them, by the names of their classes.

    Each object has exactly the members of its shape. Every member has the description that its
    annotation gives, and those with a default may be absent.
    """
    shapes = tuple(shapes)
    _, components = schema_components(shapes, ref_template=ref_template)
    return {
        kind.__name__: _component(kind, components[kind.__name__]) for kind in _with_inner(shapes)
    }


def _with_inner(shapes: Iterable[Any]) -> list[type]:
    """Return the shapes and all that their members hold, each once."""
    seen: dict[type, None] = {}
    left = list(shapes)
    while left:
        kind = left.pop()
        if isinstance(kind, type) and is_dataclass(kind) and kind not in seen:
            seen[kind] = None
            left += get_type_hints(kind).values()
        elif get_origin(kind) is not None:
            left += get_args(kind)
    return list(seen)


def _component(kind: Any, schema: Schema) -> Schema:
    hints = get_type_hints(kind, include_extras=True)
    members = {
        each.name: _member(schema["properties"][each.name], hints[each.name])
        for each in fields(kind)
    }
    required = [name for name in members if name in schema["required"] or name == "schema"]
    return {
        "type": "object",
        "description": schema["description"],
        "properties": members,
        "required": required,
        "additionalProperties": False,
    }


def _member(schema: Schema, annotated: Any) -> Schema:
    """Return a member's schema: a default is what its absence means, and null only where sent."""
    hint, description = get_args(annotated)
    member = {name: value for name, value in schema.items() if name != "default"}
    if get_origin(hint) is Literal:
        words = get_args(hint)  # in the order in which they are written
        only = {"const": words[0]} if len(words) == 1 else {"enum": list(words)}
        member = {"type": "string", **only}
    if "default" in schema and schema["default"] is None:
        member = _without_null(member)
    return {**_simple(member), "description": description}


def _without_null(schema: Schema) -> Schema:
    kinds = [each for each in schema["anyOf"] if each != {"type": "null"}]
    return dict(kinds[0]) if len(kinds) == 1 else {"anyOf": kinds}


def _simple(schema: Mapping[str, Any]) -> Schema:
    """Return ``{"type": ["string", "null"]}`` for a choice of two plain types."""
    choices = schema.get("anyOf", ())
    if choices and all(set(each) == {"type"} for each in choices):
        return {"type": [each["type"] for each in choices]}
    return dict(schema)
