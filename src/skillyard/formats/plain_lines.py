"""A fast reader for simple frontmatter, without a YAML parser.

Most blocks contain only ``key: value`` lines, nested by indentation, and lists of such values. They
mean the same to every YAML parser. They are read here line by line, in at most half the time of the
parser and without importing it. :func:`read_plain_lines` returns None for everything else, which
then goes to the guarded parser.
"""

from __future__ import annotations

import re
from itertools import count, repeat
from typing import Any

from skillyard.formats.nodes import NULLS, Node, Scalar
from skillyard.limits import DEFAULT_LIMITS, Limits

__all__ = ["read_plain_lines"]

# Linear time: the alternatives start with different characters, and the quantifiers are possessive.
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
    """Return the result of ``read_mapping`` for a block of plain lines, None for others."""
    lines = block.split("\n")
    # An upper bound of the guard's node count, so that both readers apply the same limits.
    max_nodes = 3 * len(lines) + block.count(",") + block.count("[") + block.count("{")
    if max_nodes > limits.yaml_nodes or limits.yaml_depth < 1:
        return None
    if not "".join(lines).isprintable():
        return None
    reader = _Reader(limits)
    place = number = 0
    while number < len(lines):
        line = lines[number]
        if line and not reader.read_line(line, number):
            return None
        place, number = reader.read_items(block, place + len(line) + 1, number + 1)
    if reader.pending_key or not reader.root:
        return None
    return reader.root, {key: number + first_line for key, number in reader.lines.items()}


class _Reader:
    """Reads one block line by line."""

    __slots__ = ("_limits", "_open", "lines", "pending_key", "root")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.root: dict[str, Any] = {}
        self.lines: dict[str, int] = {}
        self.pending_key = ""
        """The key whose list or mapping must start on the next line."""
        self._open: list[tuple[int, Any]] = [(0, self.root)]
        """The containers being filled, each with its indentation, outermost first."""

    def read_line(self, line: str, number: int) -> bool:
        """Read one line. False when it has no plain form or is not allowed here."""
        if line.lstrip(" ")[:1] == "-":
            match = _ITEM.fullmatch(line)
            items = None if match is None else self._container(match.end(1), list)
            if match is None or items is None:
                return False
            items.append(_scalar(match, number))
            return True
        match = _FIELD.fullmatch(line)
        mapping = None if match is None else self._container(match.end(1), dict)
        return match is not None and mapping is not None and self._field(mapping, match, number)

    def read_items(self, block: str, place: int, number: int) -> tuple[int, int]:
        """Read a run of simple items of the open list. Return the next (offset, line number).

        Lists of hundreds of tags are common, so similar items are read with one match.
        """
        indent, items = self._open[-1]
        if self.pending_key or type(items) is not list:
            return place, number
        start = " " * indent + "- "
        for pattern, quote in ((_QUOTED_RUN, '"'), (_WORDS_RUN, "")):
            match = pattern.match(block, place)
            if match is None or match.group(1) != start:
                continue
            inside = block[place + len(start) + len(quote) : match.end() - len(quote)]
            texts = inside.split(f"{quote}\n{start}{quote}")
            if not quote:
                texts = [text.rstrip(" ") for text in texts]
            lines = count(number)
            items.extend(map(Scalar, texts, repeat(not quote), lines, repeat(len(start))))
            return match.end() + 1, number + len(texts)
        return place, number

    def _container(self, indent: int, kind: type) -> Any:
        """Return the container of a line with this indentation, None when it is ambiguous."""
        opened = self._open
        outer, container = opened[-1]
        if self.pending_key:
            if indent < outer or (indent == outer and kind is dict):
                return None  # a key without a value
            if len(opened) >= self._limits.yaml_depth:
                return None
            container[self.pending_key] = inner = kind()
            self.pending_key = ""
            opened.append((indent, inner))
            return inner
        while indent < outer or (indent == outer and type(container) is not kind):
            if len(opened) == 1:
                return None
            opened.pop()
            outer, container = opened[-1]
        return container if indent == outer else None

    def _field(self, mapping: dict[str, Any], match: re.Match[str], number: int) -> bool:
        key = match.group(2)
        if key in mapping or key in NULLS or len(mapping) >= self._limits.yaml_keys:
            return False
        kind = match.lastgroup
        if kind == "flow" and len(self._open) >= self._limits.yaml_depth:
            return False
        if kind is None:
            self.pending_key = key
            mapping[key] = None  # keeps the order of the keys
        else:
            value = _flow(match, number) if kind == "flow" else _scalar(match, number)
            if value is None:
                return False
            mapping[key] = value
        if mapping is self.root:
            self.lines[key] = number
        return True


def _scalar(match: re.Match[str], number: int, start: int = 0) -> Scalar:
    kind = match.lastgroup or ""
    text = match.group(kind)
    column = start + match.start(kind)
    if kind == "plain":
        return Scalar(text.rstrip(" "), True, number, column)
    if kind == "double":
        text = _ESCAPED.sub(r"\1", text) if "\\" in text else text
    else:
        text = text.replace("''", "'")
    return Scalar(text, False, number, column - 1)


def _flow(match: re.Match[str], number: int) -> list[Node] | None:
    inside, start = match.group("flow"), match.start("flow")
    items: list[Node] = []
    # A comma inside quotes leaves pieces that do not match as items.
    for piece in inside.split(",") if inside.strip(" ") else ():
        item = _FLOW_ITEM.fullmatch(piece)
        if item is None:
            return None
        items.append(_scalar(item, number, start))
        start += len(piece) + 1
    return items
