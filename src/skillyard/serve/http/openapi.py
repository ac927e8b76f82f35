"""The OpenAPI 3.1 document, generated from the routes, their fields and the schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from skillyard.base.operation import Field
from skillyard.base.shapes.feedback import FeedbackReceipt
from skillyard.base.shapes.rankings import Ranked
from skillyard.base.shapes.reasons import Why
from skillyard.base.shapes.recommendations import Evaluated
from skillyard.base.shapes.selections import Selected
from skillyard.base.shapes.service import Error, Health, PublishedSkill, RootDocument
from skillyard.base.shapes.skills import SearchDocument
from skillyard.base.version import __version__
from skillyard.serve.runtime.app_context import HttpRoute
from skillyard.serve.runtime.encoding import JSON
from skillyard.serve.runtime.fields import Schema, components_of, schemas_of

_REFERENCE = "#/components/schemas/{model}"
_WELL_KNOWN: Schema = {
    "type": "object",
    "description": "The index of discovery draft 0.2.0.",
    "properties": {
        "$schema": {"type": "string", "description": "Which draft this follows."},
        "skills": {
            "type": "array",
            "items": {"$ref": _REFERENCE.format(model=PublishedSkill.__name__)},
            "description": "Every skill that may be fetched, by name.",
        },
    },
    "required": ["$schema", "skills"],
    "additionalProperties": False,
}
"""Written by hand, because no member of a class can be named ``$schema``."""


_SHAPES = (
    Error,
    Evaluated,
    FeedbackReceipt,
    Health,
    PublishedSkill,
    Ranked,
    RootDocument,
    SearchDocument,
    Selected,
    Why,
)

SCHEMAS = dict(
    sorted({**components_of(_SHAPES, _REFERENCE), "WellKnownIndex": _WELL_KNOWN}.items())
)
"""By the names that routes use."""


Choices = Mapping[str, tuple[str, ...]]
NO_CHOICES: Choices = MappingProxyType({})
GROUPS = {
    "Search": "Find skills in the catalog and elsewhere, and fetch them.",
    "Choose": "Rank the catalog, choose or abstain, and say why.",
    "Service": "How the service is, and what it answers.",
    "Publication": "Which skills others may fetch, and their files.",
    "Pages": "For people: HTML, and what it loads.",
}
"""The tags in their order, with their descriptions."""
_REFUSAL = {
    "description": "Refused or failed; error.code says why.",
    "content": {JSON: {"schema": {"$ref": _REFERENCE.format(model=Error.__name__)}}},
}


def document(
    routes: Sequence[HttpRoute], *, secured: bool, choices: Choices = NO_CHOICES
) -> dict[str, Any]:
    """Return the document; ``secured`` when requests need the token.

    ``choices`` maps names of fields to the values of this service: its scorers and sources.
    """
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        fields = tuple(
            field._replace(choices=tuple(choices.get(field.name, field.choices)))
            for field in route.fields
        )
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, fields)
    shape: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "skillyard",
            "version": __version__,
            "summary": "Finds the right agent skill, says when none fits, and says why.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "tags": [{"name": name, "description": about} for name, about in GROUPS.items()],
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    if secured:
        shape["security"] = [{"token": []}]
    return shape


def _operation(route: HttpRoute, fields: tuple[Field, ...]) -> dict[str, Any]:
    schema = route.answer
    if isinstance(schema, str):
        schema = {"$ref": _REFERENCE.format(model=schema)}
    responses = {
        "200": {"description": route.about, "content": {route.media: {"schema": schema}}},
        "default": _REFUSAL,
    }
    if route.tagged:
        responses["304"] = {"description": "The client has it already, by its entity tag."}
    shape: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.about,
        "tags": [route.group],
        "responses": responses,
    }
    parameters = _parameters(route.path_fields, "path")
    if route.method == "GET":
        parameters += _parameters(fields, "query")
    else:
        body = {"content": {JSON: {"schema": _body(route, fields)}}}
        shape["requestBody"] = {"required": True, **body}
    return {**shape, "parameters": parameters} if parameters else shape


def _parameters(fields: tuple[Field, ...], place: str) -> list[dict[str, Any]]:
    schemas = schemas_of(fields) if fields else {}
    return [
        {
            "name": field.name,
            "in": place,
            "required": field.required,
            "description": schemas[field.name].pop("description"),
            "schema": schemas[field.name],
        }
        for field in fields
    ]


def _body(route: HttpRoute, fields: tuple[Field, ...]) -> Schema:
    """Return the schema of a JSON body. A field may be sent under each of its names."""
    schemas = schemas_of(fields)
    properties = {}
    for field in fields:
        schema = schemas[field.name]
        if not field.required:  # null means the same as leaving it out
            about = {"description": schema.pop("description")}
            schema = {"anyOf": [schema, {"type": "null"}], **about}
        properties[field.name] = schema
        for alias in field.spelling.also:
            properties[alias] = {**schema, "description": f"Another name of {field.name}."}
    shape: Schema = {"type": "object", "properties": properties}
    required = [each for each in fields if each.required]
    shape["required"] = [each.name for each in required if not each.spelling.also]
    aliased = [each for each in required if each.spelling.also]
    needed: list[Schema] = [{"required": [name]} for each in aliased for name in each.names]
    if route.either:
        needed = [
            {"required": [name], "properties": {name: _PRESENT[each.kind]}}
            for each in fields
            for name in each.names
            if each.name in route.either
        ]
    if needed:
        shape["anyOf"] = needed
    return {**shape, "additionalProperties": False} if route.strict else shape


_PRESENT = {"text": {"type": "string"}, "texts": {"type": "array", "minItems": 1}}
"""A member with a value: neither null nor an empty list."""
