"""The JSON of lock files: printed like ``JSON.stringify``, and parsed more strictly.

The common installer writes its files with ``JSON.stringify(value, null, 2)``. ``json.dumps``
differs in three points: in JavaScript, keys that are array indexes come first in an object,
unpaired surrogates are escaped, and numbers with an exponent or more than 15 digits have another
form. This module handles the first two; the installer writes no such numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from skillyard.io.strict_json import nested_deeper_than, strict_loads

__all__ = ["MAX_DEPTH", "Json", "key_order", "parse", "stringify"]

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

MAX_DEPTH = 32
"""Maximum nesting. The installer's own files have three levels."""

_ARRAY_INDEX = re.compile("0|[1-9][0-9]{0,9}")
_LAST_INDEX = 2**32 - 2
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def parse(text: str) -> Json:
    """Return the value of a JSON text.

    Raises ValueError with the reason: invalid JSON, a duplicate key, ``NaN``, a number that is too
    large, or nesting deeper than ``MAX_DEPTH``.
    """
    try:
        value: Json = strict_loads(text)
    except RecursionError:
        raise _too_deep() from None
    if nested_deeper_than(value, MAX_DEPTH):
        raise _too_deep()
    return value


def _too_deep() -> ValueError:
    return ValueError(f"it is nested more than {MAX_DEPTH} levels deep")


def key_order(names: Iterable[str]) -> list[str]:
    """Return the keys in JavaScript's order: array indexes first, ascending."""
    listed = list(names)
    indexes = [name for name in listed if _is_index(name)]
    if not indexes:
        return listed
    return sorted(indexes, key=int) + [name for name in listed if not _is_index(name)]


def _is_index(name: str) -> bool:
    return _ARRAY_INDEX.fullmatch(name) is not None and int(name) <= _LAST_INDEX


def stringify(value: Json, *, indent: int = 0) -> str:
    """Return the output of ``JSON.stringify(value, null, indent)``."""
    text = json.dumps(
        _in_key_order(value),
        ensure_ascii=False,
        indent=indent or None,
        separators=(",", ": " if indent else ":"),
    )
    # Two adjacent halves of a surrogate pair are one character in JavaScript.
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def _in_key_order(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _in_key_order(value[name]) for name in key_order(value)}
    return [_in_key_order(item) for item in value] if isinstance(value, list) else value
