"""Checks an answer against the schemas that the service publishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillyard.serve.http.openapi import SCHEMAS

TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
    "array": (list,), "object": (dict,), "null": (type(None),),
}  # fmt: skip


def wrong(value: Any, schema: Mapping[str, Any], at: str = "$") -> list[str]:
    """Return what in the value is not as the schema says, or is not described by it."""
    if "$ref" in schema:
        return wrong(value, SCHEMAS[schema["$ref"].rpartition("/")[2]], at)
    if "anyOf" in schema:
        tried = [wrong(value, each, at) for each in schema["anyOf"]]
        return [] if [] in tried else tried[0]
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    allowed = tuple(kind for name in kinds for kind in TYPES[name])
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        return [f"{at}: {value!r} is no {' or '.join(kinds)}"]
    if "const" in schema and value != schema["const"]:
        return [f"{at}: {value!r} is not {schema['const']!r}"]
    if isinstance(value, dict):
        return _members(value, schema, at)
    if isinstance(value, list):
        items = schema["items"]
        return [w for n, item in enumerate(value) for w in wrong(item, items, f"{at}[{n}]")]
    return []


def _members(value: Mapping[str, Any], schema: Mapping[str, Any], at: str) -> list[str]:
    members = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    found = [f"{at}: {name} is missing" for name in schema.get("required", ()) if name not in value]
    for name, item in value.items():
        if name in members:
            found += wrong(item, members[name], f"{at}.{name}")
        elif isinstance(others, Mapping):
            found += wrong(item, others, f"{at}.{name}")
        elif not others:
            found.append(f"{at}.{name} is not described")
    return found


def conforms(value: Any, name: str) -> None:
    """Fail with everything that is not as the schema of that name says."""
    assert wrong(value, SCHEMAS[name]) == []
