"""The OpenAPI document as a page: plain HTML, no script, nothing from another host."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from skillyard.digest import sha256

__all__ = ["POLICY", "page"]

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-top: 1px solid; padding-top: 1rem; }
code, .method { font-family: ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; }
td:first-child, td:nth-child(2) { white-space: nowrap; }
""".strip()

POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    f"style-src 'sha256-{b64encode(sha256(_STYLE.encode())).decode()}'"
)
"""What a browser may do with the page: show it, in our style."""


def page(document: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI document."""
    info = document["info"]
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(info['title'])} service</title>",
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
        f"<p>{escape(info['summary'])} The same as data:",
        '<a href="/openapi.json">openapi.json</a>.</p>',
        "<nav><ul>",
    ]
    operations = [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    for method, path, operation in operations:
        anchor, name = escape(operation["operationId"]), escape(f"{method} {path}")
        parts.append(f'<li><a href="#{anchor}"><code>{name}</code></a></li>')
    parts.append("</ul></nav><main>")
    for method, path, operation in operations:
        parts += _operation(method, path, operation)
    parts.append('</main><h2 id="schemas">Shapes</h2>')
    for name, schema in document["components"]["schemas"].items():
        parts += _shape(name, schema)
    parts.append("</body></html>")
    return "\n".join(parts) + "\n"


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    anchor = escape(operation["operationId"])
    yield f'<section><h2 id="{anchor}"><code>{escape(f"{method} {path}")}</code></h2>'
    yield f"<p>{escape(operation['summary'])}</p>"
    rows = [
        (parameter["name"], parameter["schema"], parameter["in"], parameter["description"])
        for parameter in operation.get("parameters", ())
    ]
    if "requestBody" in operation:
        (content,) = operation["requestBody"]["content"].values()
        rows += [
            (name, schema, "body", schema.get("description", ""))
            for name, schema in content["schema"]["properties"].items()
        ]
    if rows:
        yield "<table><thead><tr><th>field</th><th>in</th><th>type</th><th></th></tr></thead>"
        yield "<tbody>"
        for name, schema, place, about in rows:
            cells = (f"<code>{escape(name)}</code>", escape(place), _kind(schema), escape(about))
            yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
        yield "</tbody></table>"
    yield "<h3>Answers</h3><ul>"
    for status, response in operation["responses"].items():
        content = response.get("content", {})
        kinds = ", ".join(_kind(entry["schema"]) for entry in content.values())
        yield f"<li><code>{escape(status)}</code> {kinds} {escape(response['description'])}</li>"
    yield "</ul></section>"


def _shape(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f'<h3 id="schema-{escape(name)}">{escape(name)}</h3>'
    yield f"<p>{escape(schema.get('description', ''))}</p><table><tbody>"
    for member, inner in schema.get("properties", {}).items():
        cells = (f"<code>{escape(member)}</code>", _kind(inner), escape(_about(inner)))
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    yield "</tbody></table>"


def _about(schema: Mapping[str, Any]) -> str:
    return str(schema.get("description", ""))


def _kind(schema: Mapping[str, Any]) -> str:
    """Return the type of a schema as HTML, with what bounds it."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#schema-{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_kind(schema['items'])}"
    said = " or ".join(kind) if isinstance(kind, list) else str(kind)
    bounds = [
        f"{sign}{schema[key]}"
        for key, sign in (("minimum", "≥ "), ("maximum", "≤ "), ("maxLength", "to "))
        if key in schema
    ]
    if "default" in schema:
        bounds.append(f"default {schema['default']}")
    return escape(f"{said} ({', '.join(bounds)})" if bounds else said)
