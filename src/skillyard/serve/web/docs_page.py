"""The API documentation as a page: routes in groups, and a form to try each one.

It is rendered from the OpenAPI document alone. A script shows the forms and sends them to this
service; everything else works without scripts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from skillyard.serve.web.assets import TRY
from skillyard.serve.web.layout import DOCS, document
from skillyard.serve.web.markup import Content, Markup, concat, tag
from skillyard.serve.web.parts import lead

FORM = "application/x-www-form-urlencoded"
EXAMPLES: Mapping[str, str] = {
    "q": "fill in a PDF form", "query": "fill in a PDF form", "text": "fill in a PDF form",
    "source": "local",
}  # fmt: skip
"""The initial values of the forms."""

Shape = Mapping[str, Any]


class _Operation(NamedTuple):
    """One method of one path."""

    method: str
    path: str
    shape: Shape

    @property
    def id(self) -> str:
        return str(self.shape["operationId"])

    @property
    def title(self) -> Markup:
        method = tag("span", self.method, class_=f"method {self.method.lower()}")
        return tag("code", method, " ", self.path, dir="ltr")

    @property
    def content(self) -> tuple[str, Shape]:
        """Return the media type of its body and its schema; empty without a body."""
        body = self.shape.get("requestBody")
        if body is None:
            return "", {}
        ((media, entry),) = body["content"].items()
        return media, entry["schema"]


class _Field(NamedTuple):
    """One value of a request."""

    name: str
    place: str
    """``path``, ``query`` or ``body``."""
    schema: Shape
    about: str
    required: bool


def docs_page(described: Shape) -> bytes:
    """Return the page of an OpenAPI document; every operation has one of the document's tags."""
    info = described["info"]
    operations = [
        _Operation(method.upper(), path, shape)
        for path, methods in described["paths"].items()
        for method, shape in methods.items()
    ]
    groups = [
        (group, [each for each in operations if each.shape["tags"] == [group["name"]]])
        for group in described["tags"]
    ]
    secured = bool(described.get("security"))
    return document(
        "API",
        tag("h1", "API"),
        lead(f"{info['summary']} Release {info['version']}. The same as data: ",
             tag("a", "openapi.json", href="/openapi.json"), "."),
        tag(
            "div",
            _contents(groups),
            tag(
                "div",
                _token() if secured else None,
                [_group(group, each) for group, each in groups],
                _shapes(described["components"]["schemas"]),
                class_="described",
            ),
            class_="docs",
        ),
        here=DOCS,
        script=TRY,
        wide=True,
    )  # fmt: skip


def _contents(groups: Sequence[tuple[Shape, Sequence[_Operation]]]) -> Markup:
    rows = [
        tag("li", tag("a", group["name"], href=f"#{_anchor(group)}"),
            tag("ul", [tag("li", tag("a", each.title, href=f"#{each.id}")) for each in operations]))
        for group, operations in groups
    ]  # fmt: skip
    rows.append(tag("li", tag("a", "Shapes", href="#shapes")))
    return tag("nav", tag("ul", rows), aria_label="Routes", class_="contents")


def _anchor(group: Shape) -> str:
    return f"group-{str(group['name']).lower().replace(' ', '-')}"


def _token() -> Markup:
    return tag(
        "form",
        tag("label", "Token", for_="token"),
        tag("input", type="password", id="token", autocomplete="off", spellcheck="false",
            aria_describedby="token-hint"),
        tag("p", "Sent with what is tried out below. It is kept nowhere, and gone with this page.",
            id="token-hint", class_="aside"),
        class_="stacked try",
        hidden=True,
    )  # fmt: skip


def _group(group: Shape, operations: Sequence[_Operation]) -> Markup:
    return tag(
        "section",
        tag("h2", group["name"], id=_anchor(group)),
        lead(group["description"]),
        [_operation(each) for each in operations],
        aria_labelledby=_anchor(group),
    )


def _operation(operation: _Operation) -> Markup:
    fields = list(_fields(operation))
    return tag(
        "article",
        tag("h3", operation.title, id=operation.id),
        tag("p", operation.shape["summary"]),
        _field_list(fields),
        _answers(operation),
        _try(operation, fields),
        class_="operation",
        aria_labelledby=operation.id,
    )


def _fields(operation: _Operation) -> Iterator[_Field]:
    for each in operation.shape.get("parameters", ()):
        yield _Field(
            each["name"], each["in"], each["schema"], each["description"], each["required"]
        )
    _, schema = operation.content
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        yield _Field(name, "body", member, member.get("description", ""), name in required)


def _field_list(fields: Sequence[_Field]) -> Markup | None:
    rows = [
        tag("div",
            tag("dt", tag("code", field.name), " ", tag("span", "required ", class_="must")
                if field.required else None, tag("span", f"{field.place}, ", _kind(field.schema))),
            tag("dd", field.about))
        for field in fields
    ]  # fmt: skip
    return tag("dl", rows, class_="fields") if rows else None


def _answers(operation: _Operation) -> Markup:
    """Return the responses: the successful ones visible, the errors folded."""
    rows = {
        status: tag("li", tag("code", status), " ", _kinds(answer), " ", answer["description"])
        for status, answer in operation.shape["responses"].items()
    }
    good = [row for status, row in rows.items() if status < "400"]
    bad = [row for status, row in rows.items() if status >= "400"]
    return concat(
        tag("h4", "Answers"),
        tag("ul", good, class_="answered"),
        tag("details", tag("summary", f"Refusals ({len(bad)})"),
            tag("ul", bad, class_="answered")) if bad else None,
    )  # fmt: skip


def _kinds(answer: Shape) -> Markup:
    kinds = [_kind(entry["schema"]) for entry in answer.get("content", {}).values()]
    return concat([concat(", " if place else "", kind) for place, kind in enumerate(kinds)])


def _try(operation: _Operation, fields: Sequence[_Field]) -> Markup:
    """Return the form that sends a request; a script shows it."""
    name, (media, schema) = operation.id, operation.content
    inputs: list[Content] = [
        _input(name, field, media) for field in fields if field.place != "body" or media == FORM
    ]
    if media and media != FORM:
        inputs.append(_body(name, schema))
    return tag(
        "details",
        tag("summary", "Try it", tag("span", f" {operation.method} {operation.path}",
                                     class_="unseen")),
        tag(
            "form",
            inputs,
            tag("button", "Send", tag("span", f" {operation.method} {operation.path}",
                                      class_="unseen"), type="submit"),
            data_method=operation.method,
            data_path=operation.path,
            data_media=media or None,
            class_="stacked",
        ),
        tag("p", role="status", class_="aside sent"),
        tag("pre", tabindex=0, class_="source", hidden=True, aria_label="Answer", role="region",
            dir="auto"),
        class_="try",
        hidden=True,
    )  # fmt: skip


def _input(operation: str, field: _Field, media: str) -> Markup:
    schema = field.schema
    place = "form" if field.place == "body" and media == FORM else field.place
    common: dict[str, Any] = {
        "id": f"try-{operation}-{field.name}",
        "name": field.name,
        "data_in": place,
        "required": field.required,
    }
    kinds = schema.get("type")
    items = schema.get("items", {})
    if schema.get("enum") or kinds == "boolean" or "boolean" in (kinds or ()):
        choices = schema.get("enum") or ["true", "false"]
        options = [tag("option", str(each), value=str(each)) for each in choices if each]
        default = _default(schema)
        unset = f"default: {default}" if default else "not set"
        control = tag("select", tag("option", unset, value=""), options, **common)
    elif kinds == "array":
        control = tag("textarea", rows=2, spellcheck="false", data_list=True, **common)
    else:
        number = {"integer", "number"} & {kinds if isinstance(kinds, str) else ""}
        control = tag(
            "input", type="number" if number else "text", autocomplete="off", spellcheck="false",
            step="any" if kinds == "number" else None, min=schema.get("minimum"),
            max=schema.get("maximum"), value=EXAMPLES.get(field.name) if field.required
            or field.name == "q" else None, placeholder=_default(schema), **common,
        )  # fmt: skip
    label = f"{field.name}, one a line" if items else field.name
    return concat(tag("label", label, for_=common["id"]), control)


def _default(schema: Shape) -> str | None:
    if "default" not in schema:
        return None
    default = schema["default"]
    return default if isinstance(default, str) else json.dumps(default)


def _body(operation: str, schema: Shape) -> Markup:
    properties = schema["properties"]
    first = next((name for name in properties if name in EXAMPLES), None)
    example = {first: EXAMPLES[first]} if first else {}
    text = json.dumps(example, indent=2, ensure_ascii=False)
    return concat(
        tag("label", "Body, as JSON", for_=f"try-{operation}-body"),
        tag("textarea", text, rows=5, spellcheck="false", id=f"try-{operation}-body", name="body",
            data_in="body", dir="ltr"),
    )  # fmt: skip


def _shapes(schemas: Mapping[str, Shape]) -> Markup:
    return tag(
        "section",
        tag("h2", "Shapes", id="shapes"),
        lead("What answers are made of."),
        [_shape(name, schema) for name, schema in schemas.items()],
        aria_labelledby="shapes",
    )


def _shape(name: str, schema: Shape) -> Markup:
    rows = [
        tag("div", tag("dt", tag("code", member), " ", tag("span", _kind(inner))),
            tag("dd", inner.get("description", "")))
        for member, inner in schema.get("properties", {}).items()
    ]  # fmt: skip
    return tag(
        "article",
        tag("h3", tag("code", name), id=f"schema-{name}"),
        tag("p", schema.get("description", "")),
        tag("dl", rows, class_="fields") if rows else None,
        class_="operation",
        aria_labelledby=f"schema-{name}",
    )


def _kind(schema: Shape) -> Markup:
    """Return the type of a schema, with its bounds."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return tag("a", name, href=f"#schema-{name}")
    if "anyOf" in schema:
        kinds = [_kind(each) for each in schema["anyOf"]]
        return concat([concat(" or " if place else "", kind) for place, kind in enumerate(kinds)])
    kind = schema.get("type", "any")
    if kind == "array":
        return concat("list of ", _kind(schema["items"]))
    names = " or ".join(kind) if isinstance(kind, list) else str(kind)
    bounds = [
        f"{before}{schema[key]:,}{after}"
        for key, before, after in (
            ("minimum", "≥ ", ""), ("maximum", "≤ ", ""), ("maxLength", "up to ", " characters"),
        )
        if key in schema
    ]  # fmt: skip
    if schema.get("default", "") != "":
        bounds.append(f"default {_default(schema)}")
    return concat(f"{names} ({', '.join(bounds)})" if bounds else names)
