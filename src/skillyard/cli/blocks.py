"""What a command prints, whatever the output: lines of styled spans, tables, trees, text.

A command puts untrusted text into these values as it is. The two renderers (:mod:`.plain` and
:mod:`.fancy`) clean every span where they format it, so no command can forget to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from skillyard.text import clean

__all__ = ["Block", "Column", "Line", "Span", "Table", "Text", "Tree", "line", "safe"]

_FLAT = str.maketrans("\n\t", "  ")


class Span(NamedTuple):
    """A piece of one line with the name of its style."""

    text: str
    style: str = ""


class Line(NamedTuple):
    """One line."""

    spans: tuple[Span, ...] = ()
    indent: int = 0
    hang: int = 0
    """More blanks before what does not fit on the first row of a terminal."""


class Column(NamedTuple):
    """One column of a table."""

    title: str
    style: str = ""
    right: bool = False
    wide: bool = False
    """Gives way where there is little room: its text wraps where it is drawn, else it is cut."""
    cut: str = ""
    """Its text is cut at the ``start`` or the ``end``, never wrapped."""
    drop: int = 0
    """Where the columns do not fit, those with the highest number go first; 0 always stays."""
    least: int = 10
    """Terminal columns below which it is not cut, unless nothing else is left."""


class Table(NamedTuple):
    """Rows of cells; a cell is a span or plain text in the style of its column."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Span | str]]
    head: bool = True
    wrap: bool = False
    """Every column wraps where there is little room, so nothing is cut."""


class Tree(NamedTuple):
    """A line with lines below it."""

    line: Line
    children: tuple[Tree, ...] = ()


class Text(NamedTuple):
    """Text of several lines, printed unchanged except for terminal controls."""

    text: str


Block = Line | Table | Tree | Text


def line(*parts: str | Span, indent: int = 0, hang: int = 0) -> Line:
    """Return a line of spans and plain strings."""
    spans = tuple(part if isinstance(part, Span) else Span(part) for part in parts)
    return Line(spans, indent, hang)


def safe(text: str) -> str:
    """Return untrusted text as it may stand inside one line."""
    return clean(text).translate(_FLAT)
