"""Objects in replies: laws against a plain reading of the rule, and texts made to be slow."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.judgement.verdicts import extract_json
from tests.property.strategies import few, hostile_text, many
from tests.tables import for_each

keys = st.text(max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8) | st.sampled_from(["{", "}", "},", ",]", '"', "\\", "```", "{\"a\": 1}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
objects = st.dictionaries(keys, values, max_size=4)
soup = st.lists(
    st.sampled_from(
        ["{", "}", '{"', '"', "\\", ",", "a", "1", ":", '{"a": 1}', "[", "]", "\n", "```", " ",
         "```json", '{"b": [1,],}', "~~~", "\ufeff", "null", "{}"]
    ),
    max_size=16,
).map("".join)  # fmt: skip


@few
@given(objects)
def test_no_ending_is_invented(value: Any) -> None:
    whole = json.dumps({"first": 1, "rest": value})
    for cut in range(2, len(whole)):
        assert extract_json(whole[:cut]) is None


@many
@given(st.one_of(soup, hostile_text))
def test_no_text_makes_it_raise_and_only_objects_come_back(text: str) -> None:
    assert isinstance(extract_json(text), dict | None)


@pytest.mark.slow
@for_each(
    "piece",
    ["{", '{ "', '{"a": ', "{ }", '{"', "\\{", '"{', ",", ", ]", "{\n", "```\n{", "[{"],
)
def test_a_long_text_made_to_be_slow_takes_no_time(piece: str) -> None:
    text = "x " + piece * (300_000 // len(piece))
    started = time.process_time()
    extract_json(text)
    assert time.process_time() - started < 4.0
