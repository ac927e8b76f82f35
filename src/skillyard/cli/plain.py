"""Blocks as plain text: aligned, without escapes, the same bytes for the same input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from skillyard.cli.blocks import Block, Column, Line, Span, Table, Text, Tree, safe
from skillyard.text import clean, clean_line

__all__ = ["cut", "fit_columns", "render", "width_of", "wrap"]

_GAP = "  "
_NARROWEST = 3
"""The minimum width of a column on any terminal."""


def render(block: Block, width: int | None = None, ascii_only: bool = False) -> Iterator[str]:
    """Yield the lines of one block, each without its line end.

    ``width`` is that of the terminal; None does not cut anything.
    """
    if isinstance(block, Line):
        yield from _wrap_line(_line(block), block.indent, block.hang, width)
    elif isinstance(block, Table):
        yield from _table(block, width)
    elif isinstance(block, Tree):
        yield from _tree(block, _BRANCHES_ASCII if ascii_only else _BRANCHES)
    elif isinstance(block, Text):
        yield from clean(block.text).rstrip("\n").split("\n")


def _line(block: Line) -> str:
    return (" " * block.indent + "".join(safe(span.text) for span in block.spans)).rstrip()


def _wrap_line(text: str, indent: int, hang: int, width: int | None) -> Iterator[str]:
    """Yield the rows of a line that is wrapped between words at the width of the terminal."""
    if width is None or width_of(text) <= width:
        yield text
        return
    start = " " * indent
    row = ""
    for word in text[indent:].split(" "):
        joined = f"{row} {word}" if row else start + word
        if row.strip() and width_of(joined) > width:
            yield row.rstrip()
            joined = start + " " * hang + word
        row = joined
    yield row.rstrip()


def _cell(cell: Span | str) -> str:
    return clean_line(cell.text if isinstance(cell, Span) else cell)


def width_of(text: str) -> int:
    """Return the maximum number of terminal columns that the text takes.

    Marks and format characters take none. The parts of joined emoji are counted one by one, because
    not every terminal joins them, and a line that is too short does not wrap.
    """
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    width = 0
    for char in text:
        if char == _EMOJI_STYLE or east_asian_width(char) in "WF":
            width += 2 if char != _EMOJI_STYLE else 1  # the sign before it has one already
        elif category(char) not in _WITHOUT_WIDTH:
            width += 1
    return width


_EMOJI_STYLE = "\ufe0f"
_WITHOUT_WIDTH = frozenset(["Mn", "Me", "Cf"])


def _table(table: Table, width: int | None) -> Iterator[str]:
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    if table.head:
        rows.insert(0, [_cell(column.title.upper()) for column in table.columns])
    visible, widths = fit_columns(rows, table.columns, width, len(_GAP))
    for row in rows:
        cells = [
            wrap(row[number], room)
            if table.wrap
            else [cut(row[number], room, table.columns[number].cut)]
            for number, room in zip(visible, widths, strict=True)
        ]
        for line in zip_longest(*cells, fillvalue=""):
            aligned = (
                _align(text, room, table.columns[number].right)
                for text, number, room in zip(line, visible, widths, strict=True)
            )
            yield _GAP.join(aligned).rstrip()


def fit_columns(
    rows: Sequence[Sequence[str]], columns: Sequence[Column], width: int | None, gap: int
) -> tuple[list[int], list[int]]:
    """Return (the numbers of the columns that fit, their widths).

    ``gap`` is the space between two columns. When not even the minimum widths fit, columns that may
    be dropped are dropped. Then wide columns shrink, then all. ``width`` None shows everything.
    """
    natural = [max((width_of(row[n]) for row in rows), default=0) for n in range(len(columns))]
    visible = list(range(len(columns)))
    if width is None:
        return visible, natural
    least = [min(size, column.least) for size, column in zip(natural, columns, strict=True)]

    def over(sizes: Sequence[int]) -> int:
        return sum(sizes[number] for number in visible) + gap * (len(visible) - 1) - width

    while over(least) > 0:
        last = max(visible, key=lambda number: (columns[number].drop, number))
        if not columns[last].drop:
            break
        visible.remove(last)
    widths = list(natural)
    wide = [number for number in visible if columns[number].wide]
    for numbers, floor in ((wide, least), (visible, least), (visible, [_NARROWEST] * len(columns))):
        _level(widths, numbers, over(widths), floor)
    return visible, [widths[number] for number in visible]


def _level(widths: list[int], numbers: Sequence[int], over: int, least: Sequence[int]) -> None:
    """Reduce the widest of the numbered columns by ``over`` in total, none below its minimum."""
    for _ in range(over):
        spare = [number for number in numbers if widths[number] > least[number]]
        if not spare:
            return
        widths[max(spare, key=lambda number: widths[number])] -= 1


def cut(text: str, room: int, side: str = "end") -> str:
    """Return the text in ``room`` columns, with an ellipsis where something was left out."""
    if width_of(text) <= room:
        return text
    remaining = text
    while remaining and width_of(remaining) > room - 1:
        # One character is at most two columns wide: drop what must go, then look again.
        drop = max(1, (width_of(remaining) - room + 1) // 2)
        remaining = remaining[drop:] if side == "start" else remaining[:-drop]
    if side != "start":
        return remaining.rstrip() + "…"
    while remaining and width_of(remaining[0]) == 0:  # a mark whose letter is gone
        remaining = remaining[1:]
    return "…" + remaining.lstrip()


def wrap(text: str, room: int) -> list[str]:
    """Return the text in lines of at most ``room`` columns; only a longer word is broken."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if width_of(joined) <= room:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for char in word:
            if width_of(lines[-1] + char) > room:
                lines.append("")
            lines[-1] += char
    return lines


def _align(text: str, room: int, right: bool) -> str:
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
