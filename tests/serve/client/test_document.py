"""The parsers on their own: any document is a value that is what it says, or a named error."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillyard import SearchResult
from skillyard.serve.client import calls
from skillyard.serve.client.call import Call, Mismatch, read_as
from tests.serve.http.local_server import Running
from tests.tables import for_each

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
KEYS = st.text(max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | KEYS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)
CALLS: dict[str, Call[Any]] = {
    "search": calls.search("pdf tables", explain=True, include_raw=True, include_references=True),
    "skill": calls.skill("pdf-tables"),
    "rank": calls.rank("pdf tables", explain=True, diagnostics=True),
    "select": calls.select("pdf tables", explain=True, diagnostics=True),
    "evaluate": calls.evaluate("pdf tables"),
    "why": calls.why("deploy", "pdf tables"),
    "health": calls.health(),
    "index": calls.index(),
    "openapi": calls.openapi(),
    "metrics": calls.metrics(),
    "skill_file": calls.skill_file("deploy", "sha256:0"),
}


@pytest.fixture(scope="module")
def truths(served: Running) -> dict[str, Any]:
    """A true document for each question."""
    found = {}
    for name, call in CALLS.items():
        if call.accept == "application/json":
            headers = {} if call.body is None else {"Content-Type": "application/json"}
            reply = served.client.request(
                call.method, call.target, content=call.body, headers=headers
            )
            found[name] = reply.json()
    return found


@given(
    name=st.sampled_from([*CALLS]),
    body=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()),
)
def test_any_body_is_a_value_or_a_mismatch(name: str, body: bytes) -> None:
    assert outcome(lambda: CALLS[name].read(body)) is not None


def outcome(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Mismatch as error:
        return error


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        found += [place for key in keys for place in places(value[key], (*path, key))]
    return found


def changed(value: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    whole = copy.deepcopy(value)
    place = whole
    for key in path[:-1]:
        place = place[key]
    change(place, path[-1])
    return whole


@settings(max_examples=150)
@given(name=st.sampled_from([*CALLS][:9]), data=st.data())
def test_a_true_document_with_one_part_exchanged_is_a_value_or_a_mismatch(
    truths: dict[str, Any], name: str, data: st.DataObject
) -> None:
    truth = truths[name]
    path = data.draw(st.sampled_from(places(truth)))
    other = data.draw(JSON)
    lie = changed(truth, path, lambda place, key: place.__setitem__(key, other))
    found = outcome(lambda: CALLS[name].read(json.dumps(lie).encode()))
    if isinstance(found, Mismatch):
        assert str(found)
    elif isinstance(found, SearchResult):
        assert json.dumps(found.to_dict(include_raw=True, explain=True))
    elif hasattr(found, "hit"):
        assert found.to_dict()["id"] == lie["id"]
    elif name != "openapi":
        assert _known(found.to_dict(), lie)


def _known(found: Any, sent: Any) -> bool:
    """True when everything that the value says is what was sent, or follows from it (a lead)."""
    if isinstance(found, dict):
        given = {key: item for key, item in found.items() if key != "lead"}
        return all(key in sent and _known(item, sent[key]) for key, item in given.items())
    if isinstance(found, list):
        return len(found) == len(sent) and all(map(_known, found, sent))
    return bool(found == (float(sent) if isinstance(found, float) else sent))


@for_each("name", ["rank", "select", "evaluate", "why", "health", "index", "search"])
def test_a_document_without_a_member_that_is_always_there_is_a_mismatch(
    truths: dict[str, Any], name: str
) -> None:
    for member in truths[name]:
        if member in {"schema", "diagnostics", "diagnostics_count"}:
            continue
        less = {key: value for key, value in truths[name].items() if key != member}
        with pytest.raises(Mismatch) as caught:
            CALLS[name].read(json.dumps(less).encode())
        assert f"no member '{member}'" in (said := str(caught.value)) or f".{member}: " in said


@for_each("name", ["rank", "select", "evaluate", "why", "health", "index", "search"])
def test_values_cannot_be_changed_and_survive_pickling(truths: dict[str, Any], name: str) -> None:
    found = CALLS[name].read(json.dumps(truths[name]).encode())
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()
    with pytest.raises(AttributeError):
        setattr(found, next(iter(inspect.signature(type(found)).parameters)), None)


@settings(max_examples=100)
@given(st.sampled_from([str, bool, int, float, list, dict]), JSON)
def test_a_value_is_of_the_type_that_is_asked_for_or_its_place_is_named(
    wanted: type, value: Any
) -> None:
    found = outcome(lambda: read_as(wanted, json.dumps(value).encode()))
    if isinstance(found, Mismatch):
        assert str(found).startswith("$")
        assert type(value) is not wanted
    else:
        assert type(found) is wanted
        assert found == value or wanted is float


def test_a_node_tells_how_it_stands_to_its_store(truths: dict[str, Any]) -> None:
    stands = {
        "generation": 41, "head": 43, "behind": 2, "age_s": 1.5, "failure": "store_not_followed",
        "taken": 7, "ready": True,
    }  # fmt: skip
    found = CALLS["health"].read(json.dumps({**truths["health"], "store": stands}).encode())
    assert (found.store.generation, found.store.behind, found.store.ready) == (41, 2, True)
    assert found.to_dict()["store"] == stands
    with pytest.raises(Mismatch, match="ready"):
        CALLS["health"].read(
            json.dumps({**truths["health"], "store": {**stands, "ready": 1}}).encode()
        )
