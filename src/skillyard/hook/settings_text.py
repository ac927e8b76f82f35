"""Edits a JSON text in place: inserts or removes one member or element, and keeps every other byte.

Parsing a document and writing it again would change its layout, the notation of numbers and
escapes, and duplicate keys. These functions edit the text instead. Removing an inserted part
restores the original bytes.
"""

from __future__ import annotations

import json
from typing import NamedTuple

__all__ = ["Part", "elements", "insert", "members", "remove", "unit", "whole"]

_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder()


class Part(NamedTuple):
    """The position of a value in the text, with its key if it is a member of an object."""

    key: str | None
    start: int
    """Start of the key, or of the element."""
    value: int
    """Start of the value."""
    end: int
    """End of the value."""


def whole(text: str) -> Part:
    """Return the document. Raises ValueError when the text is not one JSON document."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    _, end = _DECODER.raw_decode(text, start)
    if _skip(text, end) != len(text):
        raise ValueError("there is text after the document")
    return Part(None, start, start, end)


def members(text: str, parent: Part) -> list[Part]:
    """Return the members of an object, in order, including those with duplicate keys."""
    return _parts(text, parent, keyed=True)


def elements(text: str, parent: Part) -> list[Part]:
    """Return the elements of an array, in order."""
    return _parts(text, parent, keyed=False)


def _parts(text: str, parent: Part, *, keyed: bool) -> list[Part]:
    parts: list[Part] = []
    at = _skip(text, parent.value + 1)
    while text[at] not in "}]":
        start, key = at, None
        if keyed:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # the colon
        value = at
        _, at = _DECODER.raw_decode(text, at)
        parts.append(Part(key, start, value, at))
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return parts


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def insert(text: str, parent: Part, parts: list[Part], new: str, depth: int) -> str:
    """Return the text with ``new`` as the last member or element of ``parent``.

    ``parts`` are the existing ones, ``depth`` is the nesting level of the new one.
    """
    if parts:
        at, before = parts[-1].end, ","
    else:
        at, before = parent.value + 1, ""
    return text[:at] + before + _break(text, parent, parts, depth) + new + text[at:]


def _break(text: str, parent: Part, parts: list[Part], depth: int) -> str:
    """Return the white space before a new part: the same as before the last part, or a new line."""
    if parts:
        last = parts[-1]
        start = last.start
        while start > 0 and text[start - 1] in _BLANKS:
            start -= 1
        return text[start : last.start]
    if "\n" not in text.strip():
        return ""  # the document is a single line
    end = "\r\n" if "\r\n" in text else "\n"
    return end + unit(text) * depth


def unit(text: str) -> str:
    """Return one level of indentation, taken from the first indented line."""
    for line in text.split("\n")[1:]:
        indented = line[: len(line) - len(line.lstrip(" \t"))]
        if indented and line.strip():
            return indented
    return "  "


def remove(text: str, parent: Part, parts: list[Part], number: int) -> str:
    """Return the text without one of the parts, its comma, and the white space before it."""
    part = parts[number]
    if number > 0:
        return text[: parts[number - 1].end] + text[part.end :]
    if len(parts) == 1:
        return text[: parent.value + 1] + text[part.end :]
    behind = _skip(text, part.end) + 1  # the comma
    return text[: parent.value + 1] + text[behind:]
