"""What each tool gives, as JSON Schema derived from the shapes of the results."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from skillyard.serving.runtime.schemas import Schema, components_of
from skillyard.shapes.tools import RESULTS

__all__ = ["COMPONENTS", "OUTLINES"]

_REFERENCE = "{name}"
COMPONENTS: Mapping[str, Schema] = MappingProxyType(components_of(RESULTS.values(), _REFERENCE))
"""The whole schemas of the results and of what is in them, by the names of their classes."""


def _outline(name: str) -> Schema:
    """Return the schema of a result as clients are given it, its inner objects told in words.

    The SDK's client checks every result on arrival, and each property of each item costs it as
    much as a whole text does. So an object inside says which members it has to have, and of what
    type they are in its description, in TypeScript's notation. What fits the schema fits the
    outline.
    """
    schema = COMPONENTS[name]
    properties = {each: _inside(schema["properties"][each]) for each in schema["required"]}
    return {"type": "object", "properties": properties, "required": schema["required"]}


def _inside(schema: Schema) -> Schema:
    if "$ref" in schema:
        inner = COMPONENTS[schema["$ref"]]
        notation = _notation(inner)
        return {"type": "object", "required": inner["required"], "description": notation}
    if "anyOf" in schema or schema["type"] != "array":
        return {key: value for key, value in schema.items() if key != "description"}
    if "$ref" in schema["items"]:
        return {"type": "array", "items": _inside(schema["items"])}
    return {"type": "array", "description": f"{_type(schema['items'])}[]"}


def _notation(schema: Schema) -> str:
    """Return an object's type, as ``{name: string, level: "low" | "high", note?: string}``."""
    always = schema["required"]
    named = schema["properties"].items()
    parts = (f"{name}{'' if name in always else '?'}: {_type(each)}" for name, each in named)
    return f"{{{', '.join(parts)}}}"


def _type(schema: Schema) -> str:
    if "enum" in schema:
        return " | ".join(f'"{each}"' for each in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_type(each) for each in schema["anyOf"])
    if "$ref" in schema:
        return "object"
    kinds = schema["type"]
    if kinds == "array":
        return f"{_type(schema['items'])}[]"
    return " | ".join([kinds] if isinstance(kinds, str) else kinds)


OUTLINES: Mapping[str, Schema] = MappingProxyType(
    {tool: _outline(shape.__name__) for tool, shape in RESULTS.items()}
)
"""The output schema of each tool."""
