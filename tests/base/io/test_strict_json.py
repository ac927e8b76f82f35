"""JSON that two readers may read differently is refused."""

from __future__ import annotations

import json

import pytest

from skillyard.base.io.strict_json import (
    NumberRefused,
    RepeatedKey,
    nested_deeper_than,
    strict_loads,
)
from tests.tables import for_each


@for_each(
    ("text", "error", "message"),
    [
        ('{"a": 1, "b": 2, "a": 3}', RepeatedKey, "the key 'a' stands twice in one object"),
        ('[{"x": {"b": 1, "\\u0062": 2}}]', RepeatedKey, "the key 'b' stands twice"),
        ("[NaN]", NumberRefused, "NaN is no number of JSON"),
        ("-Infinity", NumberRefused, "-Infinity is no number of JSON"),
        ("1e999", NumberRefused, "the number 1e999 is too large"),
        ("{", json.JSONDecodeError, "property name"),
        ("9" * 5_000, ValueError, "digits"),
        ("[" * 100_000, RecursionError, "recursion"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_refused(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        strict_loads(text)


@for_each(("depth", "deeper"), [(2, True), (3, False), (4, False)])
def test_nesting_is_counted_by_containers(depth: int, deeper: bool) -> None:
    assert nested_deeper_than({"a": [{"b": 1}]}, depth) is deeper
