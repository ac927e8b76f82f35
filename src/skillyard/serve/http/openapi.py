"""The OpenAPI 3.1 document, generated from the routes, their fields and the schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from itertools import combinations
from types import MappingProxyType
from typing import Any

from skillyard.base.operation import Field
from skillyard.base.shapes.feedback import FeedbackReceipt
from skillyard.base.shapes.rankings import Ranked
from skillyard.base.shapes.reasons import Why
from skillyard.base.shapes.recommendations import Evaluated
from skillyard.base.shapes.selections import Selected
from skillyard.base.shapes.service import Error, Health, PublishedSkill, Root
from skillyard.base.shapes.skills import SearchDocument
from skillyard.base.version import __version__
from skillyard.serve.runtime.app_context import HttpRoute
from skillyard.serve.runtime.encoding import JSON
from skillyard.serve.runtime.fields import Schema, components_of
from skillyard.serve.runtime.guards import FORM

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
    Root,
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
HTML = "text/html"
GROUPS = {
    "Search": "Find skills in the catalog and elsewhere, and fetch them.",
    "Choose": "Rank the catalog, choose or abstain, and say why.",
    "Service": "How the service is, and what it answers.",
    "Publication": "Which skills others may fetch, and their files.",
    "Pages": "For people: HTML, and what it loads.",
}
"""The tags in their order, with their descriptions."""
NOT_BLANK = r"[^\s\u001c-\u001f\u0085\ufeff]"
"""Anything but the blanks of JSON Schema's expressions and of Python."""
_PHRASES = {413: "Content Too Large", 422: "Unprocessable Content"}
"""Those of RFC 9110 that Python names so only from 3.13 on."""
_EVERYWHERE = (400, 401, 403, 405, 431, 500)
_OF_BODIES = (408, 413, 415)


def document(
    routes: Sequence[HttpRoute], *, secured: bool, choices: Choices = NO_CHOICES
) -> dict[str, Any]:
    """Return the document; ``secured`` when requests need the token.

    ``choices`` maps names of fields to the values of this service: its scorers and sources.
    """
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        fields = _with_choices(route, choices)
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


def _with_choices(route: HttpRoute, choices: Choices) -> list[Field]:
    """Return the fields of a route with their choices on this service.

    A field that may be empty, as in a form, also has the empty choice.
    """
    fields = []
    for field in route.fields:
        names = tuple(choices.get(field.name, field.choices))
        empty = ("",) if names and field.kind == "texts" and not field.bounds.shortest else ()
        fields.append(field._replace(choices=(*names, *empty)))
    return fields


def _operation(route: HttpRoute, fields: Sequence[Field]) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.about,
        "tags": [route.group],
        "responses": _responses(route),
    }
    parameters = [_parameter(field, "path") for field in route.path_fields]
    if route.method == "GET":
        parameters += [_parameter(field, "query") for field in fields]
    else:
        shape["requestBody"] = {
            "required": True,
            "content": {FORM if route.form else JSON: {"schema": _body(route, fields)}},
        }
    if parameters:
        shape["parameters"] = parameters
    return shape


def _parameter(field: Field, place: str) -> dict[str, Any]:
    schema = _schema(field)
    shape: dict[str, Any] = {
        "name": field.name,
        "in": place,
        "required": field.required,
        "description": schema.pop("description"),
        "schema": schema,
    }
    return {**shape, "explode": True} if field.kind == "texts" else shape


def _schema(field: Field) -> dict[str, Any]:
    """Return the schema of a value; a text that must not be empty must not be blank either."""
    shape = field.schema()
    if field.bounds.shortest and not (field.choices or field.bounds.pattern):
        (shape["items"] if field.kind == "texts" else shape)["pattern"] = NOT_BLANK
    return shape


def _body(route: HttpRoute, fields: Sequence[Field]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for field in fields:
        properties[field.name] = _schema(field) if route.form else _member(field)
        for alias in field.spelling.also:
            properties[alias] = {
                **_member(field),
                "description": f"Another name of {field.name}.",
            }
    # A required field with an alias is present under either name; the description says so.
    required = [field.name for field in fields if field.required and not field.spelling.also]
    either = [field for field in fields if field.required and field.spelling.also]
    shape: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        shape["required"] = required
    if either:
        shape["anyOf"] = [{"required": [name]} for field in either for name in field.names]
    if route.either:
        shape["anyOf"] = [
            {"required": [name], "properties": {name: _non_empty(field)}}
            for field in fields
            for name in field.names
            if field.name in route.either
        ]
    both = [{"required": list(pair)} for field in fields for pair in combinations(field.names, 2)]
    if both:  # a field is sent under one of its names
        shape["not"] = {"anyOf": both}
    if route.strict:
        shape["additionalProperties"] = False
    return shape


def _member(field: Field) -> dict[str, Any]:
    """Return the schema of a body's member: null means the same as leaving it out."""
    shape = _schema(field)
    if field.required:
        return shape
    shape["type"] = [shape["type"], "null"]
    if "enum" in shape:
        shape["enum"] = [*shape["enum"], None]
    return shape


def _non_empty(field: Field) -> dict[str, Any]:
    """Return the schema of a member with a value: neither null nor an empty list."""
    if field.kind == "texts":
        return {"type": "array", "minItems": 1}
    return {"type": field.schema()["type"]}


def _responses(route: HttpRoute) -> dict[str, Any]:
    schema = route.answer
    if isinstance(schema, str):
        schema = {"$ref": f"#/components/schemas/{schema}"}
    responses: dict[str, Any] = {
        "200": {"description": route.about, "content": {route.media: {"schema": schema}}}
    }
    refusals = {*_EVERYWHERE, *route.refusals}
    if route.fields or route.path_fields:
        refusals.add(422)
    if not route.free:
        refusals |= {429, 503}
    if route.method == "POST":
        refusals.update(_OF_BODIES)
    if route.form:
        responses["303"] = {"description": _phrase(303)}
    if route.tagged:
        responses["304"] = {"description": _phrase(304)}
    for status in sorted(refusals):
        shape = schema if route.name == "health" and status == 503 else None
        content = {JSON: {"schema": shape or {"$ref": "#/components/schemas/Error"}}}
        if route.media == HTML:
            content[HTML] = {"schema": {"type": "string"}}
        responses[str(status)] = {"description": _phrase(status), "content": content}
    return responses


def _phrase(status: int) -> str:
    return _PHRASES.get(status) or HTTPStatus(status).phrase
