"""Checks an answer against the schemas that the service publishes."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from skillyard.serve.http.openapi import SCHEMAS


def conforms(value: Any, name: str) -> None:
    """Fail with everything that is not as the schema of that name says."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": SCHEMAS}}
    faults = Draft202012Validator(schema).iter_errors(value)
    assert [f"{each.json_path}: {each.message}" for each in faults] == []
