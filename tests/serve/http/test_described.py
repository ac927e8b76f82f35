"""What the description allows is answered, and what it forbids is refused: found by schemathesis.

Each row is a request that the service once took differently from what its description said.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

import pytest

from tests.requirements import requirement
from tests.serve.http.local_server import Running, raw, request
from tests.tables import for_each

jsonschema = pytest.importorskip("jsonschema")
pytestmark = requirement("service:described")

BODIES: list[tuple[str, dict[str, Any], bool]] = [
    ("/evaluate", {}, False),
    ("/evaluate", {"text": None}, False),
    ("/evaluate", {"files": []}, False),
    ("/evaluate", {"files": ["a.py"]}, True),
    ("/evaluate", {"text": ""}, True),
    ("/evaluate", {"recentActivity": ["pushed"]}, True),
    ("/evaluate", {"text": "a", "recent_activity": [], "recentActivity": []}, True),
    ("/evaluate", {"text": "a", "threshold": None, "limit": None}, True),
    ("/select", {"include_tags": None, "top_k": None}, True),
    ("/select", {"text": "a", "scorer": "0"}, False),
    ("/select", {"text": "a", "scorer": None}, True),
    ("/select", {"text": "a", "fallback_tag": " "}, False),
    ("/search", {"q": "0", "scorer": "0"}, False),
    ("/search", {"q": "0", "source": ["0"]}, False),
    ("/search", {"q": "0", "source": ["local"]}, True),
    ("/search", {"q": " "}, False),
    ("/search", {"query": None}, False),
]
QUERIES: list[tuple[str, dict[str, str], dict[str, Any], bool]] = [
    ("/search", {}, {"query": "0", "source": ["0"]}, False),
    ("/search", {}, {"query": "0", "source": ["local"]}, True),
    ("/rank", {}, {"query": "a", "scorer": "0"}, False),
    ("/why", {}, {"query": "a", "name": "deploy", "scorer": "0"}, False),
    ("/", {}, {"scorer": "0"}, False),
    ("/", {}, {"scorer": "hybrid"}, True),
    ("/skills/{source}/{id}", {"source": "0", "id": "0"}, {}, True),
    ("/skills/{source}/{id}", {"source": "!", "id": "0"}, {}, False),
    ("/skills/{source}/{id}", {"source": "a/b..c", "id": "0"}, {}, False),
    ("/skills/{source}/{id}", {"source": "a/b", "id": "\\"}, {}, False),
    ("/skills/{source}/{id}", {"source": "a.b", "id": "..."}, {}, True),
    ("/page/skills/{source}/{id}", {"source": "\u00e9", "id": "0"}, {}, False),
    ("/page/skills/{source}/{id}", {"source": "local", "id": "deploy"}, {"scorer": "0"}, False),
    ("/page/skills/{source}/{id}", {"source": "local", "id": "deploy"}, {}, True),
]


def is_valid(schema: Any, value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


@for_each(("path", "body", "allowed"), BODIES)
def test_a_body_is_taken_as_it_is_described(
    served: Running, path: str, body: dict[str, Any], allowed: bool
) -> None:
    operation = served.get("/openapi.json").json()["paths"][path]["post"]
    (content,) = operation["requestBody"]["content"].values()
    assert is_valid(content["schema"], body) == allowed
    status = served.post(path, body).status_code
    assert status == (200 if allowed else 422)
    assert {str(status), "default"} & operation["responses"].keys()


@for_each(("path", "placed", "query", "allowed"), QUERIES)
def test_a_query_is_taken_as_it_is_described(
    served: Running, path: str, placed: dict[str, str], query: dict[str, Any], allowed: bool
) -> None:
    operation = served.get("/openapi.json").json()["paths"][path]["get"]
    schemas = {(each["in"], each["name"]): each["schema"] for each in operation["parameters"]}
    given = [(("path", name), value) for name, value in placed.items()]
    given += [(("query", name), value) for name, value in query.items()]
    assert all(is_valid(schemas[place], value) for place, value in given) == allowed
    target = path.format(**{name: quote(value, safe="") for name, value in placed.items()})
    status = served.get(f"{target}?{urlencode(query, doseq=True)}").status_code
    assert (status in (200, 404)) == allowed
    assert {str(status), "default"} & operation["responses"].keys()


def test_a_head_that_is_too_large_is_refused(served: Running) -> None:
    for size in (33_000, 70_000, 200_000):
        sent = request("GET", "/rank?q=" + "0" * size, "Connection: close", host="localhost")
        answer = raw(served.port, sent)
        # What does not come in one piece is refused by the reader of the protocol.
        assert answer.status in (400, 431)
