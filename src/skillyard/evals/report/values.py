"""Readers of values of an envelope that accept missing values and wrong types.

An envelope comes from a file, which may be old, truncated or not from skillyard. Each function
takes any JSON value and returns the value, or the empty value of its type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

__all__ = ["at", "count", "flag", "items", "mapping", "names", "number", "rows", "total", "word"]

_LARGEST = 1e12  # nothing that is counted or paid here comes near it; more would break every plot


def mapping(value: object) -> Mapping[str, object]:
    """Return an object as it is, anything else as an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> Sequence[object]:
    """Return a list as it is, anything else as an empty one."""
    return value if isinstance(value, list | tuple) else ()


def rows(value: object) -> tuple[Mapping[str, object], ...]:
    """Return the objects of a list."""
    return tuple(item for item in items(value) if isinstance(item, Mapping))


def names(value: object) -> tuple[str, ...]:
    """Return the texts of a list."""
    return tuple(item for item in items(value) if isinstance(item, str))


def word(value: object) -> str:
    """Return a text as it is, anything else as the empty one."""
    return value if isinstance(value, str) else ""


def flag(value: object) -> bool | None:
    """Return true or false as it is, anything else as None."""
    return value if isinstance(value, bool) else None


def number(value: object) -> float | None:
    """Return a finite number of at most 12 digits before its point; None for other values."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not isfinite(value):
        return None
    return float(value) if -_LARGEST <= value <= _LARGEST else None


def count(value: object) -> int | None:
    """Return a whole number from 0 up; None for other values."""
    value_number = number(value)
    return (
        int(value_number)
        if value_number is not None and value_number >= 0 and value_number == int(value_number)
        else None
    )


def at(value: object, *path: str) -> object:
    """Return what lies at a path of keys below a value; None where it ends early."""
    for key in path:
        value = mapping(value).get(key)
    return value


def total(value: object) -> float | None:
    """Return the sum of a number, a list of numbers or the numbers of an object; None for none."""
    value_number = number(value)
    if value_number is not None:
        return value_number
    inner = mapping(value).values() if isinstance(value, Mapping) else items(value)
    numbers = [each for item in inner if (each := number(item)) is not None]
    return sum(numbers) if numbers else None
