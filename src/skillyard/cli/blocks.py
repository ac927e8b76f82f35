"""The output of a command: lines of styled spans, tables, trees and text.

A command puts untrusted text into these values unchanged. The two renderers (:mod:`.plain` and
:mod:`.console`) clean every span where they format it, so no command can forget to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from skillyard.base.invisible import clean
from skillyard.base.text import clean_line

STYLES = {
    "ok": "good",
    "info": "info",
    "warning": "warning",
    "error": "error",
    "low": "info",
    "medium": "warning",
    "high": "error",
}
"""The style of a severity, of all that report findings."""
_HANG = 4
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
    """Additional indent of the rows after the first one on a terminal."""


class Column(NamedTuple):
    """One column of a table."""

    title: str
    cell: Callable[[Any], Span | str] = str
    """What the column shows of an item, for :func:`table`."""
    style: str = ""
    right: bool = False
    wide: bool = False
    """True for a column that shrinks first on a narrow terminal: its text wraps or is cut."""
    cut: str = ""
    """``start`` or ``end``: where its text is cut instead of wrapped."""
    drop: int = 0
    """When the columns do not fit, those with the highest number are dropped first; 0 is never
    dropped."""
    least: int = 10
    """The minimum width in terminal columns, unless nothing else can shrink."""


class Table(NamedTuple):
    """Rows of cells; a cell is a span or plain text in the style of its column."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Span | str]]
    head: bool = True
    wrap: bool = False
    """True when every column wraps on a narrow terminal, so that nothing is cut."""


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


def table(items: Iterable[object], *columns: Column, head: bool = True) -> Table:
    """Return a table with a row for each item."""
    return Table(columns, [[each.cell(item) for each in columns] for item in items], head)


def fields(*names: str) -> list[Column]:
    """Return a column for each field of the items, as ``title=field`` where they differ."""
    pairs = (name.partition("=") for name in names)
    return [Column(title, partial(_field, field or title)) for title, _, field in pairs]


def numbers(*names: str, drop: int = 0) -> list[Column]:
    """Return the columns of :func:`fields` for numbers, which end at the right."""
    return [each._replace(right=True, drop=drop) for each in fields(*names)]


def _field(name: str, item: object) -> str:
    value = getattr(item, name)
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, float):
        return f"{value:.4f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def titled(title: str) -> Iterator[Line]:
    """Yield the title of a part, after an empty line."""
    yield line()
    yield line(Span(title, "head"))


def place_of(path: str, *numbers: int | None) -> str:
    """Return ``path:line:column``, as far as they are known."""
    return ":".join([clean_line(path) or ".", *(str(each) for each in numbers if each is not None)])


def finding(place: str, severity: str, code: str, message: str, **details: str) -> Iterator[Line]:
    """Yield a finding as lines that terminals and editors can open, then its details by name."""
    yield line(
        Span(f"{place}:", "head"),
        Span(f" {severity}", STYLES.get(severity, "error")),
        Span(f" {code}", "dim"),
        f" {clean_line(message)}",
        hang=_HANG,
    )
    for name, text in details.items():
        if text:
            yield line(Span(f"{name}: ", "dim"), clean_line(text), indent=_HANG)


def safe(text: str) -> str:
    """Return untrusted text that is safe within one line."""
    return clean(text).translate(_FLAT)
