"""Requests are read against their fields: every fault is named, nothing else gets through."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.base.operation import Bounds, Field, Spelling, fields_of
from skillyard.engine.operations.skill_explanation import WHY as REASONS
from skillyard.hosts.operations import skill_selection as operations
from skillyard.hosts.operations.recommendations import EVALUATE as EVALUATION
from skillyard.serve.requests import SearchRequest
from skillyard.serve.runtime.errors import Refused
from skillyard.serve.runtime.fields import from_json, from_query
from tests.tables import for_each


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A request with a field of every kind."""

    q: Annotated[str, "Words.", Bounds(shortest=1, longest=20)]
    limit: Annotated[int, "How many.", Bounds(least=1, most=50)] = 10
    floor: Annotated[float | None, "A score.", Bounds(least=0, most=1)] = None
    deep: Annotated[bool, "Whether."] = False
    files: Annotated[
        tuple[str, ...], "Paths.", Bounds(items=3, longest=5), Spelling(("paths",))
    ] = ()
    kind: Annotated[Literal["a", "b"] | None, "Which."] = None


FIELDS = fields_of(Wanted, "http")
RANK, SELECT, EVALUATE, WHY = (
    operation.fields("http")
    for operation in (operations.RANK, operations.SELECT, EVALUATION, REASONS)
)
SEARCH = fields_of(SearchRequest, "http")


def faults(refused: Refused) -> list[tuple[tuple[str | int, ...], str]]:
    return [(fault.loc, fault.type) for fault in refused.faults]


def query(text: str, strict: bool = True) -> dict[str, Any]:
    return from_query(FIELDS, text.encode(), strict=strict)


def body(value: Any, strict: bool = True) -> dict[str, Any]:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return from_json(FIELDS, data, strict=strict)


@for_each(
    ("text", "where", "kind"),
    [
        ("", "q", "missing"),
        ("q=", "q", "string_too_short"),
        ("q=x&limit=0", "limit", "greater_than_equal"),
        ("q=x&limit=ten", "limit", "int_parsing"),
        (f"q=x&limit={'9' * 5000}", "limit", "int_parsing_size"),
        ("q=x&limit=5&limit=6", "limit", "int_type"),
        ("q=x&floor=nan", "floor", "finite_number"),
        ("q=x&deep=maybe", "deep", "bool_parsing"),
        ("q=x&files=toolong", "files", "string_too_long"),
        ("q=x&files=1&files=2&files=3&files=4", "files", "too_long"),
        ("q=x&kind=c", "kind", "literal_error"),
        ("q=x&lmit=5", "lmit", "extra_forbidden"),
    ],
)
def test_every_fault_of_a_query_names_its_field(text: str, where: str, kind: str) -> None:
    with pytest.raises(Refused) as caught:
        query(text)
    assert caught.value.status == 422
    assert [(place[:2], word) for place, word in faults(caught.value)] == [(("query", where), kind)]
    assert caught.value.field is not None
    assert caught.value.field.startswith(where)


@for_each(
    ("value", "kind"),
    [
        (b"", "json_invalid"),
        (b"\xff\xfe{}", "json_invalid"),
        (b"\xef\xbb\xbf{}", "json_invalid"),
        (b"[" * 100_000, "json_invalid"),
        (b'{"q": "x", "floor": NaN}', "json_invalid"),
        (b'{"q": "x", "floor": 1e999}', "json_invalid"),
        (b'{"q": "x", "limit": ' + b"9" * 5_000 + b"}", "json_invalid"),
        (b'{"q": "x", "q": "y"}', "json_invalid"),
        ([], "dict_type"),
        ({"q": "\ud800"}, "string_unicode"),
        ({"q": "x", "limit": "5"}, "int_type"),
        ({"q": "x", "limit": 1.5}, "int_type"),
        ({"q": "x", "deep": "true"}, "bool_type"),
        ({"q": "x", "files": "a"}, "list_type"),
        ({"q": "x", "files": ["a", 5]}, "string_type"),
        ({"q": "x", "more": 1}, "extra_forbidden"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_every_fault_of_a_body_is_a_422(value: Any, kind: str) -> None:
    with pytest.raises(Refused) as caught:
        body(value)
    assert caught.value.status == 422
    assert [word for _, word in faults(caught.value)] == [kind]


def test_bytes_that_are_no_text_and_floods_of_parameters_are_refused() -> None:
    for wrong in ("q=%ff", "q=x&" + "a=1&" * 1_100):
        with pytest.raises(Refused, match=r"UTF-8|parameters"):
            query(wrong, strict=False)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
NAMES = sorted({name for f in (*SEARCH, *SELECT, *EVALUATE) for name in f.names})


@given(st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), VALUES, max_size=6))
def test_any_json_gives_values_of_the_right_kind_or_a_422(document: dict[str, Any]) -> None:
    data = json.dumps(document).encode("utf-8", "surrogatepass")
    for fields in (SEARCH, SELECT, EVALUATE):
        found = read_or_refused(partial(from_json, fields, data, strict=True))
        if found is not None:
            assert set(found) == {field.name for field in fields}
            for field in fields:
                check_kind(field, found[field.name])


def read_or_refused(read: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """Return what was read, None for a 422 with its faults; anything else fails the test."""
    try:
        return read()
    except Refused as error:
        refused = error
    assert (refused.status, bool(refused.faults)) == (422, True)
    return None


def check_kind(field: Field, value: Any) -> None:
    kinds = {"text": str, "integer": int, "number": int | float, "flag": bool, "texts": tuple}
    assert value is None or isinstance(value, kinds[field.kind])
    if field.kind in ("integer", "number") and value is not None:
        least = float("-inf") if field.bounds.least is None else field.bounds.least
        most = float("inf") if field.bounds.most is None else field.bounds.most
        assert least <= float(value) <= most  # type: ignore[arg-type]
