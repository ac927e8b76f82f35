"""Reads the values of a results file, which may be old, truncated or not from skillyard."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

_LARGEST = 1e12  # nothing that is counted or paid here comes near it; more would break every plot


class Json:
    """A JSON value. Each method follows a path of keys and returns what lies there.

    Where the path ends early or leads to another type, it returns the empty value of its type, so
    no file stops a report.
    """

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __contains__(self, key: str) -> bool:
        return key in self.entries()

    def at(self, *path: str) -> Json:
        """Return the value itself."""
        value = self.value
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return Json(value)

    def entries(self, *path: str) -> dict[str, Json]:
        """Return the entries of an object."""
        value = self.at(*path).value
        inner = value if isinstance(value, Mapping) else {}
        return {key: Json(each) for key, each in inner.items()}

    def items(self, *path: str) -> list[Json]:
        """Return the elements of a list."""
        value = self.at(*path).value
        return [Json(each) for each in value] if isinstance(value, list | tuple) else []

    def rows(self, *path: str) -> list[Json]:
        """Return the objects of a list."""
        return [each for each in self.items(*path) if isinstance(each.value, Mapping)]

    def names(self, *path: str) -> list[str]:
        """Return the texts of a list."""
        return [each.value for each in self.items(*path) if isinstance(each.value, str)]

    def text(self, *path: str) -> str:
        """Return a text."""
        value = self.at(*path).value
        return value if isinstance(value, str) else ""

    def flag(self, *path: str) -> bool | None:
        """Return true or false; None for other values."""
        value = self.at(*path).value
        return value if isinstance(value, bool) else None

    def number(self, *path: str) -> float | None:
        """Return a finite number of at most 12 digits before its point; None for other values."""
        value = self.at(*path).value
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        if isinstance(value, float) and not isfinite(value):
            return None
        return float(value) if -_LARGEST <= value <= _LARGEST else None

    def count(self, *path: str) -> int | None:
        """Return a whole number from 0 up; None for other values."""
        number = self.number(*path)
        is_count = number is not None and number >= 0 and number.is_integer()
        return int(number) if number is not None and is_count else None
