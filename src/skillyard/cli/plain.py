"""Blocks as plain text: aligned, without escapes, the same bytes for the same input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillyard.cli.blocks import Block, Column, Line, Span, Table, Text, Tree, safe
from skillyard.text import clean, clean_line

__all__ = ["cut", "fitted", "render", "width_of"]

_GAP = "  "
_LEAST = 10
"""No column is cut below this."""


def render(block: Block, width: int | None = None, ascii_only: bool = False) -> Iterator[str]:
    """Yield the lines of one block, each without its line end.

    ``width`` is that of the terminal; None does not cut anything.
    """
    if isinstance(block, Line):
        yield _line(block)
    elif isinstance(block, Table):
        yield from _table(block, width)
    elif isinstance(block, Tree):
        yield from _tree(block, _BRANCHES_ASCII if ascii_only else _BRANCHES)
    elif isinstance(block, Text):
        yield from clean(block.text).rstrip("\n").split("\n")


def _line(block: Line) -> str:
    return (" " * block.indent + "".join(safe(span.text) for span in block.spans)).rstrip()


def _cell(cell: Span | str) -> str:
    return clean_line(cell.text if isinstance(cell, Span) else cell)


def width_of(text: str) -> int:
    """Return how many columns the text takes in a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    wide = sum(east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(combining(char) != 0 for char in text)


def _table(table: Table, width: int | None) -> Iterator[str]:
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    if table.head:
        rows.insert(0, [_cell(column.title.upper()) for column in table.columns])
    widths = fitted(rows, table.columns, None if width is None else width - _gaps(table))
    for row in rows:
        cells = [
            _aligned(cut(text, room, column.cut), room, column.right)
            for text, room, column in zip(row, widths, table.columns, strict=True)
        ]
        yield _GAP.join(cells).rstrip()


def _gaps(table: Table) -> int:
    return len(_GAP) * (len(table.columns) - 1)


def fitted(
    rows: Sequence[Sequence[str]], columns: Sequence[Column], width: int | None
) -> list[int]:
    """Return the widths of the columns in ``width``: the wide ones give way first, then all."""
    widths = [max((width_of(row[n]) for row in rows), default=0) for n in range(len(columns))]
    if width is None:
        return widths
    wide = [number for number, column in enumerate(columns) if column.wide]
    for numbers in (wide, list(range(len(columns)))):
        _level(widths, numbers, sum(widths) - width)
    return widths


def _level(widths: list[int], numbers: Sequence[int], over: int) -> None:
    """Take ``over`` columns from the widest of the numbered ones, none below the least width."""
    for _ in range(over):
        widest = max(numbers, key=lambda number: widths[number], default=None)
        if widest is None or widths[widest] <= _LEAST:
            return
        widths[widest] -= 1


def cut(text: str, room: int, side: str = "end") -> str:
    """Return the text in ``room`` columns, with an ellipsis where something was left out."""
    if width_of(text) <= room:
        return text
    kept = text
    while kept and width_of(kept) > room - 1:
        # One character is at most two columns wide: drop what must go, then look again.
        drop = max(1, (width_of(kept) - room + 1) // 2)
        kept = kept[drop:] if side == "start" else kept[:-drop]
    return "…" + kept.lstrip() if side == "start" else kept.rstrip() + "…"


def _aligned(text: str, room: int, right: bool) -> str:
    blanks = " " * (room - width_of(text))
    return blanks + text if right else text + blanks


_BRANCHES = ("├─ ", "└─ ", "│  ", "   ")
_BRANCHES_ASCII = ("|- ", "`- ", "|  ", "   ")


def _tree(tree: Tree, branches: tuple[str, str, str, str]) -> Iterator[str]:
    yield _line(tree.line)
    fork, last, along, empty = branches
    for number, child in enumerate(tree.children):
        is_last = number == len(tree.children) - 1
        lines = _tree(child, branches)
        for position, text in enumerate(lines):
            if position == 0:
                yield (last if is_last else fork) + text
            else:
                yield (empty if is_last else along) + text
