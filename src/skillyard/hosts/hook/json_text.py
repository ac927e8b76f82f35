"""Changes one place of a JSON text. Every other byte of it stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

NEW = "{\n}\n"
"""The text of a new file, before something is added."""
END = ""
"""In a path: a new item at the end of a list."""

_DECODER = json.JSONDecoder()
_LINE_START = re.compile(r"\r?\n[ \t]*$")


class _Member(NamedTuple):
    """A member of an object or an item of a list, and where it stands."""

    key: str | int
    start: int
    value: int
    end: int


def add_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return a text with a value at a path that it does not have, as the last of its container.

    What is missing on the way is made.
    """
    place, members, (key, *missing) = _follow(text, path)
    for outer in reversed(missing):
        value = [value] if outer == END else {outer: value}
    at = members[-1].end if members else place + 1
    lead = text[place + 1 : members[0].start if members else _after_space(text, at)]
    start, unit = _LINE_START.search(lead), re.search(r"\n([ \t]+)\S", text)
    indent = (unit[1] if unit else "  ") if start else None
    lead = start[0] if start else " " * bool(members)
    lead += "" if members else indent or ""
    new = json.dumps(value, indent=indent, ensure_ascii=text.isascii())
    new = new.replace("\n", lead) if start else new
    name = "" if key == END else f"{json.dumps(key)}: "
    return f"{text[:at]}{',' * bool(members)}{lead}{name}{new}{text[at:]}"


def replace_value(text: str, path: Sequence[str | int], value: Any) -> str:
    """Return a text with another value at a path."""
    _, members, (key,) = _follow(text, path)
    (member,) = (each for each in members if each.key == key)
    new = json.dumps(value, ensure_ascii=text.isascii())
    return f"{text[: member.value]}{new}{text[member.end :]}"


def remove_value(text: str, path: Sequence[str | int]) -> str:
    """Return a text without what stands at a path: what :func:`add_value` added is gone."""
    place, members, (key,) = _follow(text, path)
    number = [each.key for each in members].index(key)
    begin, end = members[number - 1].end if number else place + 1, members[number].end
    if not number and members[1:]:
        begin, end = members[0].start, members[1].start
    return text[:begin] + text[end:]


def _follow(text: str, path: Sequence[str | int]) -> tuple[int, list[_Member], Sequence[str | int]]:
    """Return the innermost container on a path, its members, and the path from it on."""
    place, rest = text.index("{"), path
    while True:
        members = list(_members(text, place))
        inner = {each.key: each.value for each in members}.get(rest[0])
        if inner is None or not rest[1:]:
            return place, members, rest
        place, rest = inner, rest[1:]


def _members(text: str, start: int) -> Iterator[_Member]:
    """Yield the members of the object or list that begins at a place."""
    place, number = _after_space(text, start + 1), 0
    while text[place] not in "]}":
        begin, key = place, number
        if text[start] == "{":
            key, place = _DECODER.raw_decode(text, place)
            place = _after_space(text, _after_space(text, place) + 1)  # the colon
        value = place
        _, place = _DECODER.raw_decode(text, value)
        yield _Member(key, begin, value, place)
        place, number = _after_space(text, place), number + 1
        if text[place] == ",":
            place = _after_space(text, place + 1)


def _after_space(text: str, place: int) -> int:
    while text[place] in " \t\r\n":
        place += 1
    return place
