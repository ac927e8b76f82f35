"""The JSON Schema of each tool's result, derived from the shapes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from skillyard.base.shapes.tools import RESULTS
from skillyard.serve.runtime.schemas import Schema, components_of

_REFERENCE = "{name}"
COMPONENTS: Mapping[str, Schema] = MappingProxyType(components_of(RESULTS.values(), _REFERENCE))
"""The complete schemas of the results and their members, by class name."""


def _outline(name: str) -> Schema:
    """Return the result schema for clients: the members that are always there, and their types.

    The schema is sent to every client with the list of tools, and the SDK's client validates every
    result by it. It therefore says nothing of inner objects; docs/reference/json.md does.
    """
    schema = COMPONENTS[name]
    members = {each: _plain(schema["properties"][each]) for each in schema["required"]}
    return {"type": "object", "properties": members, "required": schema["required"]}


def _plain(schema: Schema) -> Schema:
    if "$ref" in schema:
        return {"type": "object"}
    return {"type": schema["type"]} if "type" in schema else {}


OUTLINES: Mapping[str, Schema] = MappingProxyType(
    {tool: _outline(shape.__name__) for tool, shape in RESULTS.items()}
)
"""The output schema of each tool."""
