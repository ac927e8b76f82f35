"""JSON read strictly: each key once in an object, no ``NaN``, no number that is too large."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isfinite
from typing import Any, NoReturn

_SHOWN = 80
"""Characters of a key in an error message."""


class RepeatedKey(ValueError):
    """A key that stands twice in one object: readers disagree on which of the two counts."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key[:_SHOWN]!a} stands twice in one object")
        self.key = key


class NumberRefused(ValueError):
    """``NaN``, ``Infinity``, or a number beyond the range of floats."""


def strict_loads(text: str) -> Any:
    """Return the value of a JSON text.

    Raises RepeatedKey, NumberRefused and json.JSONDecodeError; ValueError for a whole number of
    thousands of digits; RecursionError for nesting that the interpreter cannot follow.
    """
    return json.loads(
        text,
        object_pairs_hook=_unique,
        parse_constant=refuse_constant,
        parse_float=_finite,
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise RepeatedKey(key)
            seen.add(key)
    return fields


def refuse_constant(name: str) -> NoReturn:
    """Raise NumberRefused: the ``parse_constant`` of a reader that takes only JSON's numbers."""
    raise NumberRefused(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise NumberRefused(f"the number {text[:_SHOWN]} is too large")
    return value


def nested_deeper_than(value: Any, depth: int) -> bool:
    """Return True when containers are nested deeper; level by level, so it never recurses."""
    level = [value]
    for _ in range(depth):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return False
    return any(isinstance(value, dict | list) for value in level)


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
