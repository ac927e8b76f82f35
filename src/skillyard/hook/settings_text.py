"""Editing a JSON text in place: a member or an element goes in or out, every other byte stays.

Reading a document and writing it again would lose what JSON does not say: its layout, how numbers
and escapes are written, keys that stand twice. So this finds the place in the text. Whatever was
put in stands directly behind what was before it, and taking it out again leaves the same bytes.
"""

from __future__ import annotations

import json
from typing import NamedTuple

__all__ = ["Part", "elements", "insert", "members", "remove", "unit", "whole"]

_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder()


class Part(NamedTuple):
    """A value in the text, with its key where it is a member."""

    key: str | None
    start: int
    """Where the key starts, or the element."""
    value: int
    """Where the value starts."""
    end: int
    """Behind the value."""


def whole(text: str) -> Part:
    """Return the document. Raises ValueError when the text is not one JSON document."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    _, end = _DECODER.raw_decode(text, start)
    if _skip(text, end) != len(text):
        raise ValueError("something stands behind the document")
    return Part(None, start, start, end)


def members(text: str, parent: Part) -> list[Part]:
    """Return the members of an object, in order, keys that stand twice twice."""
    return _parts(text, parent, keyed=True)


def elements(text: str, parent: Part) -> list[Part]:
    """Return the elements of an array, in order."""
    return _parts(text, parent, keyed=False)


def _parts(text: str, parent: Part, *, keyed: bool) -> list[Part]:
    found: list[Part] = []
    at = _skip(text, parent.value + 1)
    while text[at] not in "}]":
        start, key = at, None
        if keyed:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # the colon
        value = at
        _, at = _DECODER.raw_decode(text, at)
        found.append(Part(key, start, value, at))
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def insert(text: str, parent: Part, parts: list[Part], new: str, depth: int) -> str:
    """Return the text with ``new`` as the last member or element of ``parent``.

    ``parts`` are those that are there, ``depth`` is how deep the new one stands.
    """
    if parts:
        at, before = parts[-1].end, ","
    else:
        at, before = parent.value + 1, ""
    return text[:at] + before + _break(text, parent, parts, depth) + new + text[at:]


def _break(text: str, parent: Part, parts: list[Part], depth: int) -> str:
    """Return what stands before a new part: as before the last one, or a line of its own."""
    if parts:
        last = parts[-1]
        start = last.start
        while start > 0 and text[start - 1] in _BLANKS:
            start -= 1
        return text[start : last.start]
    if "\n" not in text.strip():
        return ""  # all on one line
    end = "\r\n" if "\r\n" in text else "\n"
    return end + unit(text) * depth


def unit(text: str) -> str:
    """Return one step of indentation, as the first indented line has it."""
    for line in text.split("\n")[1:]:
        indented = line[: len(line) - len(line.lstrip(" \t"))]
        if indented and line.strip():
            return indented
    return "  "


def remove(text: str, parent: Part, parts: list[Part], number: int) -> str:
    """Return the text without one of the parts, its comma, and the blanks before it."""
    part = parts[number]
    if number > 0:
        return text[: parts[number - 1].end] + text[part.end :]
    if len(parts) == 1:
        return text[: parent.value + 1] + text[part.end :]
    behind = _skip(text, part.end) + 1  # the comma
    return text[: parent.value + 1] + text[behind:]
