"""The JSON Schema of each tool's result, derived from the shapes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from skillyard.serving.runtime.schemas import Schema, components_of
from skillyard.shapes.tools import RESULTS

__all__ = ["COMPONENTS", "OUTLINES"]

_REFERENCE = "{name}"
COMPONENTS: Mapping[str, Schema] = MappingProxyType(components_of(RESULTS.values(), _REFERENCE))
"""The complete schemas of the results and their members, by class name."""


def _outline(name: str) -> Schema:
    """Return the result schema for clients, with inner objects described in words.

    The SDK's client validates every result, and each property of each item costs as much time as a
    whole text. Inner objects therefore only list their required members; the types are in their
    description, in TypeScript notation. Every value that fits the full schema fits this one.
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
    """Return an object's type, such as ``{name: string, level: "low" | "high", note?: string}``."""
    always = schema["required"]
    properties = schema["properties"].items()
    parts = (f"{name}{'' if name in always else '?'}: {_type(each)}" for name, each in properties)
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
