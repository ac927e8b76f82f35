"""Answers are the same bytes each time, hold no NaN, and are tagged."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skillyard.serve.runtime.encoding import json_bytes, matches, tag_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def no_constant(text: str) -> Any:
    raise AssertionError(f"{text} is no JSON")


@given(VALUES)
def test_any_value_becomes_json_without_nan_the_same_each_time(value: Any) -> None:
    data = json_bytes(value)
    assert data == json_bytes(value)
    again = json.loads(data.decode("utf-8"), parse_constant=no_constant)
    assert again == finite(value)


def finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list) else value


def test_text_is_utf8_and_half_a_pair_breaks_nothing() -> None:
    assert json_bytes({"é": "日本"}) == '{"é":"日本"}'.encode()
    assert json_bytes("a\udc80b") == b'"a?b"'


def test_a_tag_matches_itself_in_every_form_and_no_other() -> None:
    tag = tag_of(b"body")
    strong = tag.removeprefix("W/")
    for asked in (tag, strong, "*", f'"other", {tag}', f'{strong},W/"x"'):
        assert matches(tag, asked)
    for asked in ("", '"other"', tag[:-2] + '"', "W/"):
        assert not matches(tag, asked)
