"""JSON text is JavaScript's to the byte; what two readers may read differently is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.remote.install.javascript_json import MAX_DEPTH, Json, key_order, parse, stringify
from tests.remote.install.asking_node import Questions, fresh, needs_node, stored
from tests.tables import for_each

numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers()
values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def compare(asked: Questions, answers: Questions) -> None:
    for text, said in zip(asked["stringify"], answers["stringify"], strict=True):
        assert stringify(parse(text), indent=2) == said


def test_stored_values_are_printed_as_in_node() -> None:
    asked, answers = stored()
    assert len(asked["stringify"]) > 3
    compare(asked, answers)


@needs_node
def test_fresh_values_are_printed_as_in_node() -> None:
    compare(*fresh())


@given(values)
def test_printing_is_a_fixed_point_and_is_json(value: Json) -> None:
    held = parse(json.dumps(value))
    for indent in (0, 2):
        text = stringify(held, indent=indent)
        assert parse(text) == held
        assert stringify(parse(text), indent=indent) == text
        text.encode()


@for_each(
    "text",
    [
        "", "{", "[1,]", "NaN", "Infinity", "-Infinity", "{'a':1}", '{"a":1,"a":1}',
        '{"x":{"b":1,"\\u0062":2}}', "[" * 100_000, '{"a":' * 100_000, "[" * 2_000 + "]" * 2_000,
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "01", '"\x01"', "1 2", "1e999",
        "9" * 5_000,
    ],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
def test_what_is_refused_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)


def test_the_deepest_nesting_that_is_read_is_printed_too() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert stringify(parse(text)) == text


def test_array_indexes_come_first_as_in_an_object_of_javascript() -> None:
    names = ["b", "10", "4294967295", "9", "a", "01", "4294967294", "-1"]
    assert key_order(names) == ["9", "10", "4294967294", "b", "4294967295", "a", "01", "-1"]
