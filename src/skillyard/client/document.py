"""Bytes that somebody sent → JSON values, read member by member with their place.

Nothing is guessed: a member that is missing or of another type is :class:`Mismatch`, which names
its place (``$.skills[2].id``). Members that are not asked for are passed over, so a newer service
may say more than this client reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from skillyard.io.strict_json import (
    NumberRefused,
    RepeatedKey,
    nested_deeper_than,
    strict_loads,
)

__all__ = ["Mismatch", "Node", "document_of"]

DEPTH = 64
"""Containers inside each other; frontmatter holds 16 at most, explanations about ten."""
SHOWN = 40
"""Characters of a member's name in an error."""


class Mismatch(ValueError):
    """A document is no JSON, or not of the shape that was asked for; the text says where."""


def document_of(body: bytes) -> Node:
    """Return the JSON document in a body: UTF-8, each key once, finite numbers, text that is text.

    Raises Mismatch.
    """
    try:
        value = strict_loads(body.decode("utf-8"))
    except RecursionError:
        raise Mismatch("it is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise Mismatch(f"it is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise Mismatch(f"it is no JSON: {error.msg} (character {error.pos})") from None
    except (RepeatedKey, NumberRefused) as error:
        raise Mismatch(str(error)) from None
    except ValueError:  # what int() says of a number with thousands of digits
        raise Mismatch("it holds a number that is too long") from None
    if nested_deeper_than(value, DEPTH):
        raise Mismatch("it is nested too deeply")
    if b"\\u" in body:
        _check_text(value)
    return Node(value, "$")


def _check_text(value: Any) -> None:
    """Refuse half a surrogate pair, which only an escape can bring in and no encoding takes."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise Mismatch("it holds half a surrogate pair") from None


_KINDS: Mapping[type, str] = {
    str: "text", bool: "true or false", int: "a whole number", float: "a number",
    list: "a list", dict: "an object", type(None): "null",
}  # fmt: skip


class Node(NamedTuple):
    """One value of a document and its place. Every method raises Mismatch for another type."""

    value: Any
    at: str

    def member(self, name: str) -> Node:
        """Return a member that has to be there."""
        found = self.optional(name)
        if found is None:
            raise Mismatch(f"{self.at} has no member {name!r}")
        return found

    def optional(self, name: str) -> Node | None:
        """Return a member, None where it is not there."""
        members = self.object()
        return Node(members[name], f"{self.at}.{name}") if name in members else None

    def object(self) -> dict[str, Any]:
        """Return an object as it is."""
        found: dict[str, Any] = self._typed(dict)
        return found

    def members(self) -> list[tuple[str, Node]]:
        """Return the members of an object, in order."""
        named = self.object().items()
        return [(name, Node(value, f"{self.at}.{name[:SHOWN]}")) for name, value in named]

    def items(self) -> list[Node]:
        """Return the items of a list."""
        listed = enumerate(self._typed(list))
        return [Node(value, f"{self.at}[{place}]") for place, value in listed]

    def text(self) -> str:
        """Return a text."""
        return str(self._typed(str))

    def text_or_none(self) -> str | None:
        """Return a text, None for null."""
        return None if self.value is None else self.text()

    def texts(self) -> tuple[str, ...]:
        """Return the texts of a list."""
        return tuple(item.text() for item in self.items())

    def flag(self) -> bool:
        """Return true or false."""
        return bool(self._typed(bool))

    def integer(self) -> int:
        """Return a whole number."""
        return int(self._typed(int))

    def integer_or_none(self) -> int | None:
        """Return a whole number, None for null."""
        return None if self.value is None else self.integer()

    def number(self) -> float:
        """Return a finite number."""
        if type(self.value) is int:
            try:
                return float(self.value)
            except OverflowError:
                raise Mismatch(f"{self.at} is too large a number") from None
        return float(self._typed(float))

    def number_or_none(self) -> float | None:
        """Return a finite number, None for null."""
        return None if self.value is None else self.number()

    def numbers(self) -> tuple[tuple[str, float], ...]:
        """Return the (name, number) pairs of an object of numbers."""
        return tuple((name, node.number()) for name, node in self.members())

    def check(self, wanted: str) -> None:
        """Raise Mismatch where this is not that very text."""
        if self.value != wanted:
            raise Mismatch(f"{self.at} is not {wanted!r}")

    def _typed(self, wanted: type) -> Any:
        if type(self.value) is not wanted:
            came = _KINDS.get(type(self.value), "something else")
            raise Mismatch(f"{self.at} is {came}, not {_KINDS[wanted]}")
        return self.value
