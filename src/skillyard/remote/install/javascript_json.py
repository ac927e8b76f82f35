"""JSON as JavaScript prints it, byte for byte, and read more strictly than JavaScript reads it.

The common installer writes its files with ``JSON.stringify(value, null, 2)``. What that does and
Python's ``json`` does not: numbers are printed as JavaScript prints doubles, names that are array
indexes come first in an object, and half a surrogate pair is written as an escape. What reading
refuses, beside all that is no JSON: a name that stands twice in one object, nesting without end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NoReturn

__all__ = ["MAX_DEPTH", "Json", "key_order", "parse", "stringify"]

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
"""A number is an int where JavaScript's double is a whole number that it holds exactly."""

MAX_DEPTH = 32
"""Nesting that is read. The installer's own files have three levels."""

_EXACT = 2**53
"""Whole numbers below this are exact in JavaScript."""
_ARRAY_INDEX = re.compile("0|[1-9][0-9]{0,9}")
_LAST_INDEX = 2**32 - 2
_ESCAPED = re.compile('["\\\\\x00-\x1f\ud800-\udfff]')
_SHORT = {
    '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
}  # fmt: skip


def parse(text: str) -> Json:
    """Return what a JSON text says, numbers as JavaScript would hold them.

    Raises ValueError, which says what is wrong: no JSON, a name twice in one object, ``NaN``, or
    nesting deeper than ``MAX_DEPTH``.
    """
    try:
        value: Json = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_number,
            parse_float=_number,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise _too_deep() from None
    if _deeper_than(value, MAX_DEPTH):
        raise _too_deep()
    return value


def _too_deep() -> ValueError:
    return ValueError(f"it is nested more than {MAX_DEPTH} levels deep")


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the name {key[:80]!a} stands twice in one object")
        found[key] = value
    return found


def _number(text: str) -> int | float | None:
    """Return what JavaScript prints again for a number: null for one beyond all doubles."""
    number = float(text)
    if number in (float("inf"), float("-inf")):
        return None
    return int(number) if number.is_integer() and abs(number) < _EXACT else number


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def _deeper_than(value: Json, depth: int) -> bool:
    """True when containers are nested deeper; level by level, so that no depth is too much."""
    level = [value]
    for _ in range(depth):
        level = [inner for outer in level for inner in _inside(outer)]
    return any(isinstance(value, dict | list) for value in level)


def _inside(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def key_order(names: Iterable[str]) -> list[str]:
    """Return the names as an object of JavaScript lists them: array indexes first, ascending."""
    listed = list(names)
    indexes = [name for name in listed if _is_index(name)]
    if not indexes:
        return listed
    return sorted(indexes, key=int) + [name for name in listed if not _is_index(name)]


def _is_index(name: str) -> bool:
    return _ARRAY_INDEX.fullmatch(name) is not None and int(name) <= _LAST_INDEX


def stringify(value: Json, *, indent: int = 0) -> str:
    """Return what ``JSON.stringify(value, null, indent)`` prints for a value that was parsed."""
    return "".join(_printed(value, "\n" if indent else "", " " * indent))


def _printed(value: Json, line: str, step: str) -> Iterator[str]:
    """Yield the pieces of a value; ``line`` is the line break and indentation that it stands at."""
    if isinstance(value, dict) and value:
        inner, separator = line + step, "{"
        for name in key_order(value):
            yield f"{separator}{inner}{_quoted(name)}:{' ' if line else ''}"
            yield from _printed(value[name], inner, step)
            separator = ","
        yield line + "}"
    elif isinstance(value, list) and value:
        inner, separator = line + step, "["
        for item in value:
            yield separator + inner
            yield from _printed(item, inner, step)
            separator = ","
        yield line + "]"
    else:
        yield _plain(value)


def _plain(value: Json) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _printed_number(value)
    return "null" if value is None else "[]" if isinstance(value, list) else "{}"


def _quoted(text: str) -> str:
    # Two halves of a pair that stand side by side are one character in JavaScript.
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return f'"{_ESCAPED.sub(_escape, whole)}"'


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _printed_number(number: int | float) -> str:
    """Return a double as JavaScript prints it: the fewest digits, plain from 1e-6 to 1e21."""
    if number == int(number) and abs(number) < _EXACT:
        return str(int(number))
    sign = "-" if number < 0 else ""
    mantissa, _, power = repr(float(abs(number))).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(power or 0)
    digits = whole + fraction
    bare = digits.lstrip("0")
    point -= len(digits) - len(bare)
    bare = bare.rstrip("0")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{bare}"
    if 0 < point <= 21:
        padded = bare.ljust(point, "0")
        return sign + padded[:point] + (f".{padded[point:]}" if padded[point:] else "")
    exponent = f"e{point - 1:+d}"
    return sign + bare[0] + (f".{bare[1:]}" if bare[1:] else "") + exponent
