"""Objects in replies: laws against a plain reading of the rule, and texts made to be slow."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.judgement.replies import extract_json
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
prose = st.text(st.characters(exclude_characters='{}[]"`~'), max_size=20)
soup = st.lists(
    st.sampled_from(
        ["{", "}", '{"', '"', "\\", ",", "a", "1", ":", '{"a": 1}', "[", "]", "\n", "```", " ",
         "```json", '{"b": [1,],}', "~~~", "\ufeff", "null", "{}"]
    ),
    max_size=16,
).map("".join)  # fmt: skip


@many
@given(objects, prose, prose)
def test_an_object_is_read_out_of_any_prose(value: Any, before: str, after: str) -> None:
    assert extract_json(before + json.dumps(value) + after) == value
    assert extract_json(before + json.dumps(value, indent=1, ensure_ascii=False) + after) == value


@many
@given(objects, prose, st.sampled_from(["```", "````json", "~~~ json", "  ```"]))
def test_an_object_in_a_fence_comes_before_one_in_prose(
    value: Any, before: str, fence: str
) -> None:
    marks = fence.split("json")[0].strip()
    text = f'{before} {{"other": 0}}\n{fence}\n{json.dumps(value)}\n{marks}\n{{"last": 1}}'
    assert extract_json(text) == value


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


def closing(text: str, start: int) -> int | None:
    """Return the position behind the brace that closes the one at ``start``, read by the rule."""
    depth, in_string, escaped = 0, False, False
    for place in range(start, len(text)):
        char = text[place]
        if escaped:
            escaped = False
        elif in_string:
            escaped = char == "\\"
            in_string = char != '"'
        elif char == '"':
            in_string = True
        elif char in "{}":
            depth += 1 if char == "{" else -1
            if depth == 0:
                return place + 1
    return None


def scanned(text: str) -> dict[str, Any] | None:
    """Return what the rule gives for a text without fences and trailing commas, character wise."""
    place = 0
    while place < len(text):
        if text[place] != "{":
            place += 1
            continue
        end = closing(text, place)
        if end is None:
            if text[place + 1 :].lstrip().startswith('"'):
                return None
            place += 1
            continue
        try:
            result = json.loads(text[place:end])
        except ValueError:
            result = None
        if isinstance(result, dict):
            return result
        place = end
    return None


@many
@given(
    st.lists(
        st.sampled_from(["{", "{", "}", '"', '{"', "\\", "a", " ", '{"a": 1}', "{}", '"x"', ":"]),
        max_size=24,
    ).map("".join)
)
def test_the_scan_is_that_of_the_rule(text: str) -> None:
    text = f"reply: {text}"  # never JSON as a whole
    assert extract_json(text) == scanned(text)


@for_each(
    ("text", "value"),
    [
        ('{"a": NaN}', None),
        ('{"a": Infinity}', None),
        ('{"a": -Infinity}', None),
        ('{"a": 1,,}', None),
        ("{'a': 1}", None),
        ('{"a": 01}', None),
        ("{}", {}),
        ("Nothing fits: {}", {}),
        ('{"s": "x,]", "l": [1,\n]}', {"s": "x,]", "l": [1]}),
        ('{"s": "\\",]"}', {"s": '",]'}),
        ('~~~\n{"a": 1}\n~~~', {"a": 1}),
        ('```json {"a": 1} ```', {"a": 1}),
        ('```\n{"a": 1\n```\n```\n{"b": 2}\n```', {"b": 2}),
        ("[" * 100_000, None),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, None),
        ('{"a": ' + "9" * 5_000 + "}", None),
        ('[{"a": 1},]', None),
    ],
)
def test_edges_of_the_rule(text: str, value: Any) -> None:
    assert extract_json(text) == value


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
