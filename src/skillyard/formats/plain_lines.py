"""The plain lines that most frontmatter is made of, read without a YAML parser.

Most blocks hold nothing but ``key: value`` lines, indented below each other, and lists of such
values. These mean the same to every YAML reader and can hide nothing, so they are read here line
by line, in half the parser's time or less and without importing it. :func:`read_plain_lines`
returns None for everything else, and the guarded parser decides.
"""

from __future__ import annotations

import re
from itertools import count, repeat
from typing import Any

from skillyard.formats.nodes import NULLS, Node, Scalar
from skillyard.limits import DEFAULT_LIMITS, Limits

__all__ = ["read_plain_lines"]

# Linear: each alternative starts with a character of its own, and no run gives back what it took.
_QUOTED = r""""(?P<double>[^"\\]*+(?:\\["\\][^"\\]*+)*+)"|'(?P<single>[^']*+(?:''[^']*+)*+)'"""
_PLAIN = r"""(?P<plain>[^\s\-?:,\[\]{}\#&*!|>'"%@`][^:\#]*+(?:(?::(?=\S)|(?<=\S)\#)[^:\#]*+)*+)"""
_FLOW = r"\[(?P<flow>[^\[\]]*+)\]"
_FIELD = re.compile(
    rf"( *)([A-Za-z_][A-Za-z0-9_-]{{0,63}}):(?: +(?:{_QUOTED}|{_PLAIN}|{_FLOW}))? *"
)
_ITEM = re.compile(rf"( *)- +(?:{_QUOTED}|{_PLAIN}) *")
_FLOW_ITEM = re.compile(
    r""" *(?:"(?P<double>[^"\\]*+)"|'(?P<single>[^']*+)'|"""
    r"""(?P<plain>[^\s\-?:,\[\]{}\#&*!|>'"%@`][^:\#?{}'"]*+)) *"""
)
_QUOTED_RUN = re.compile(r'( *- )"[^"\\\n]*+"(?=\n|\Z)(?:\n\1"[^"\\\n]*+"(?=\n|\Z))*+')
_WORDS_RUN = re.compile(
    r"( *- )[A-Za-z0-9][A-Za-z0-9 ._/-]*+(?=\n|\Z)(?:\n\1[A-Za-z0-9][A-Za-z0-9 ._/-]*+(?=\n|\Z))*+"
)
_ESCAPED = re.compile(r"\\(.)")


def read_plain_lines(
    block: str, limits: Limits = DEFAULT_LIMITS, first_line: int = 2
) -> tuple[dict[str, Node], dict[str, int]] | None:
    """Return what ``read_mapping`` returns for a block of plain lines, and None for any other."""
    lines = block.split("\n")
    # More than the guard could count, so that its caps never differ from what is read here.
    most_nodes = 3 * len(lines) + block.count(",") + block.count("[") + block.count("{")
    if most_nodes > limits.yaml_nodes or limits.yaml_depth < 1:
        return None
    if not "".join(lines).isprintable():
        return None
    reader = _Reader(limits)
    place = number = 0
    while number < len(lines):
        line = lines[number]
        if line and not reader.take(line, number):
            return None
        place, number = reader.take_items(block, place + len(line) + 1, number + 1)
    if reader.waiting or not reader.root:
        return None
    return reader.root, {key: number + first_line for key, number in reader.lines.items()}


class _Reader:
    """One block, line by line."""

    __slots__ = ("_limits", "_open", "lines", "root", "waiting")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.root: dict[str, Any] = {}
        self.lines: dict[str, int] = {}
        self.waiting = ""
        """The key whose list or mapping must start on the next line."""
        self._open: list[tuple[int, Any]] = [(0, self.root)]
        """The containers being filled, each with its indentation, outermost first."""

    def take(self, line: str, number: int) -> bool:
        """Take one line; False when it is not one of the plain forms, or not in this place."""
        if line.lstrip(" ")[:1] == "-":
            found = _ITEM.fullmatch(line)
            items = None if found is None else self._container(found.end(1), list)
            if found is None or items is None:
                return False
            items.append(_scalar(found, number))
            return True
        found = _FIELD.fullmatch(line)
        mapping = None if found is None else self._container(found.end(1), dict)
        return found is not None and mapping is not None and self._field(mapping, found, number)

    def take_items(self, block: str, place: int, number: int) -> tuple[int, int]:
        """Take the plainest items from here on, where a list is open; return the next place, line.

        Lists of hundreds of tags are common, and each item is like the one before: a run of them
        is taken at once.
        """
        indent, items = self._open[-1]
        if self.waiting or type(items) is not list:
            return place, number
        start = " " * indent + "- "
        for run, quote in ((_QUOTED_RUN, '"'), (_WORDS_RUN, "")):
            found = run.match(block, place)
            if found is None or found.group(1) != start:
                continue
            inside = block[place + len(start) + len(quote) : found.end() - len(quote)]
            texts = inside.split(f"{quote}\n{start}{quote}")
            if not quote:
                texts = [text.rstrip(" ") for text in texts]
            lines = count(number)
            items.extend(map(Scalar, texts, repeat(not quote), lines, repeat(len(start))))
            return found.end() + 1, number + len(texts)
        return place, number

    def _container(self, indent: int, kind: type) -> Any:
        """Return the container that a line of this indentation belongs to, None when unclear."""
        opened = self._open
        outer, container = opened[-1]
        if self.waiting:
            if indent < outer or (indent == outer and kind is dict):
                return None  # a key without a value
            if len(opened) >= self._limits.yaml_depth:
                return None
            container[self.waiting] = inner = kind()
            self.waiting = ""
            opened.append((indent, inner))
            return inner
        while indent < outer or (indent == outer and type(container) is not kind):
            if len(opened) == 1:
                return None
            opened.pop()
            outer, container = opened[-1]
        return container if indent == outer else None

    def _field(self, mapping: dict[str, Any], found: re.Match[str], number: int) -> bool:
        key = found.group(2)
        if key in mapping or key in NULLS or len(mapping) >= self._limits.yaml_keys:
            return False
        kind = found.lastgroup
        if kind == "flow" and len(self._open) >= self._limits.yaml_depth:
            return False
        if kind is None:
            self.waiting = key
            mapping[key] = None  # keeps the order of the keys
        else:
            value = _flow(found, number) if kind == "flow" else _scalar(found, number)
            if value is None:
                return False
            mapping[key] = value
        if mapping is self.root:
            self.lines[key] = number
        return True


def _scalar(found: re.Match[str], number: int, start: int = 0) -> Scalar:
    kind = found.lastgroup or ""
    text = found.group(kind)
    column = start + found.start(kind)
    if kind == "plain":
        return Scalar(text.rstrip(" "), True, number, column)
    if kind == "double":
        text = _ESCAPED.sub(r"\1", text) if "\\" in text else text
    else:
        text = text.replace("''", "'")
    return Scalar(text, False, number, column - 1)


def _flow(found: re.Match[str], number: int) -> list[Node] | None:
    inside, start = found.group("flow"), found.start("flow")
    items: list[Node] = []
    # A comma inside quotes leaves pieces that are no items.
    for piece in inside.split(",") if inside.strip(" ") else ():
        item = _FLOW_ITEM.fullmatch(piece)
        if item is None:
            return None
        items.append(_scalar(item, number, start))
        start += len(piece) + 1
    return items
