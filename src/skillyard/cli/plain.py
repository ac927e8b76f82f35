"""Blocks as rows of styled spans, aligned to the width of the terminal; and those as plain text.

The plain text has no escapes, and is the same for the same input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from skillyard.base.invisible import clean
from skillyard.base.text import clean_line
from skillyard.cli.blocks import Block, Column, Line, Span, Table, Tree, safe

_GAP = "  "
_NARROWEST = 3
"""The minimum width of a column on any terminal."""


def rows_of(block: Block, width: int | None) -> Iterator[list[Span]]:
    """Yield the rows of one block, each as the spans that stand beside each other in it.

    ``width`` is that of the terminal; None does not cut anything.
    """
    if isinstance(block, Line):
        yield from _line_rows(block, width)
    elif isinstance(block, Table):
        yield from _table(block, width)
    elif isinstance(block, Tree):
        yield from _tree(block)
    else:
        for text in clean(block.text).rstrip("\n").split("\n"):
            yield [Span(text)]


def _spans(block: Line) -> list[Span]:
    return [Span(safe(span.text), span.style) for span in block.spans]


def _line_rows(block: Line, width: int | None) -> Iterator[list[Span]]:
    """Yield the rows of a line that is broken between words at the width of the terminal.

    A word that is wider than a row, such as a path, is not broken.
    """
    spans = _spans(block)
    text = "".join(span.text for span in spans)
    room = None if width is None else width - block.indent
    start, end, hang = 0, -1, 0
    for word in text.split(" "):
        place = end + 1
        full = room is not None and width_of(text[start : place + len(word)]) > room - hang
        if full and text[start : max(end, 0)].strip():
            yield [Span(" " * (block.indent + hang)), *_part(spans, start, end)]
            start, hang = place, block.hang
        end = place + len(word)
    yield [Span(" " * (block.indent + hang)), *_part(spans, start, end)]


def _part(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """Yield what the spans have between two places of their text."""
    for span in spans:
        if start < len(span.text) and end > 0:
            yield Span(span.text[max(0, start) : end], span.style)
        start, end = start - len(span.text), end - len(span.text)


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


def _table(table: Table, width: int | None) -> Iterator[list[Span]]:
    spans = [
        [_cell(cell, column) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    if table.head:
        spans.insert(0, [Span(clean_line(each.title.upper()), "title") for each in table.columns])
    texts = [[span.text for span in row] for row in spans]
    visible, widths = _fit_columns(texts, table.columns, width)
    for row in spans:
        cells = [
            _wrap(row[number].text, room)
            if table.wrap or (table.columns[number].wide and not table.columns[number].cut)
            else [cut(row[number].text, room, table.columns[number].cut)]
            for number, room in zip(visible, widths, strict=True)
        ]
        for parts in zip_longest(*cells, fillvalue=""):
            shown = []
            for text, number, room in zip(parts, visible, widths, strict=True):
                blanks = " " * (room - width_of(text))
                right = table.columns[number].right
                aligned = blanks + text if right else text + blanks
                shown += [Span(aligned, row[number].style), Span(_GAP)]
            yield shown[:-1]


def _cell(cell: Span | str, column: Column) -> Span:
    own = cell if isinstance(cell, Span) else Span(cell)
    return Span(clean_line(own.text), own.style or column.style)


def _fit_columns(
    rows: Sequence[Sequence[str]], columns: Sequence[Column], width: int | None
) -> tuple[list[int], list[int]]:
    """Return (the numbers of the columns that fit, their widths).

    When not even the minimum widths fit, columns that may
    be dropped are dropped. Then wide columns shrink, then all. ``width`` None shows everything.
    """
    natural = [max((width_of(row[n]) for row in rows), default=0) for n in range(len(columns))]
    visible = list(range(len(columns)))
    if width is None:
        return visible, natural
    least = [min(size, column.least) for size, column in zip(natural, columns, strict=True)]

    def over(sizes: Sequence[int]) -> int:
        return sum(sizes[number] for number in visible) + len(_GAP) * (len(visible) - 1) - width

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
        remaining = remaining[1:] if side == "start" else remaining[:-1]
    if side != "start":
        return remaining.rstrip() + "…"
    while remaining and width_of(remaining[0]) == 0:  # a mark whose letter is gone
        remaining = remaining[1:]
    return "…" + remaining.lstrip()


def _wrap(text: str, room: int) -> list[str]:
    """Return the text in lines of at most ``room`` columns; only a longer word is broken."""
    if width_of(text) <= room:
        return [text]
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


def _tree(tree: Tree) -> Iterator[list[Span]]:
    yield _spans(tree.line)
    for number, child in enumerate(tree.children):
        is_last = number == len(tree.children) - 1
        starts = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        for position, row in enumerate(_tree(child)):
            yield [Span(starts[position > 0], "dim"), *row]
