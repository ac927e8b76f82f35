"""The published description covers every route, every field and every answer."""

from __future__ import annotations

import json
import re
from typing import Any

from skillyard.scorers import scorer_names
from skillyard.serve.http.openapi import SCHEMAS, document
from skillyard.serve.http.routes.table import ROUTES
from skillyard.serve.mcp.http_app import MCP_PATH
from tests.serve.http.local_server import Running
from tests.serve.web.page_parser import harm, read


def described(node: Any, at: str = "$") -> list[str]:
    """Return the members of a schema that nobody described."""
    found: list[str] = []
    for name, member in node.get("properties", {}).items():
        inner = member.get("items", member)
        said = member.get("description") or "$ref" in member or "const" in member
        found += [] if said else [f"{at}.{name}"]
        found += described(inner, f"{at}.{name}")
    return found


def references(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*map(references, node.values()))
    return set().union(*map(references, node)) if isinstance(node, list) else set()


def test_every_route_and_every_field_is_described() -> None:
    found = document(ROUTES, secured=False)
    for route in ROUTES:
        operation = found["paths"][route.path][route.method.lower()]
        assert operation["summary"] == route.about
        named = {p["name"]: p for p in operation.get("parameters", ())}
        assert all(parameter["description"] for parameter in named.values())
        if route.method == "POST":
            (content,) = operation["requestBody"]["content"].values()
            named |= content["schema"]["properties"]
        for field in (*route.fields, *route.path_fields):
            for name in field.names if route.method == "POST" else (field.name,):
                assert named[name]["description"]
        in_path = set(re.findall(r"\{(\w+)\}", route.path))
        assert in_path == {field.name for field in route.path_fields}
    assert len({route.name for route in ROUTES}) == len(ROUTES)


def test_every_member_of_every_shape_is_described_and_every_shape_is_there() -> None:
    for name, schema in SCHEMAS.items():
        assert schema["description"]
        assert described(schema, name) == []
    found = document(ROUTES, secured=False)
    wanted = {f"#/components/schemas/{name}" for name in SCHEMAS}
    assert references(found) == wanted
    assert sorted(SCHEMAS) == list(SCHEMAS)


def test_the_routes_are_those_that_are_served(served: Running) -> None:
    answer = served.get("/openapi.json")
    choices = {"scorer": scorer_names(), "source": served.context.searches.default_names}
    # Lists as JSON reads them: a choice is a tuple in the document.
    described = json.loads(json.dumps(document(ROUTES, secured=False, choices=choices)))
    assert answer.json() == described
    assert answer.json()["openapi"] == "3.1.0"
    tag = {"If-None-Match": answer.headers["etag"]}
    assert served.get("/openapi.json", headers=tag).status_code == 304
    served_paths = {route.path for route in served.server.config.app.routes}  # type: ignore[union-attr]
    # MCP is described by itself, to those who speak it, and what pages load by the pages.
    others = {MCP_PATH, f"{MCP_PATH}/", "/static"}
    assert served_paths == {route.pattern for route in ROUTES} | others


def test_the_page_shows_every_route_and_runs_nothing_of_its_own(served: Running) -> None:
    answer = served.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    page = read(answer.content)
    assert harm(page) == []
    ids = {each.attributes["id"] for each in page.elements if "id" in each.attributes}
    assert {a[1:] for a in page.addresses() if a.startswith("#")} <= ids
    for route in ROUTES:
        assert route.name in ids
    assert page.all("form") == []
