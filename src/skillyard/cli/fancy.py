"""Blocks for a terminal, drawn by rich. Markup in the text is text: nothing is interpreted."""

from __future__ import annotations

from typing import IO, Any

from skillyard.cli.blocks import Block, Column, Line, Span, Table, Text, Tree, safe
from skillyard.cli.plain import cut, fit_columns, width_of
from skillyard.text import clean, clean_line

__all__ = ["Screen"]

_STYLES = {
    "head": "bold",
    "name": "bold cyan",
    "score": "bold",
    "dim": "dim",
    "high": "green",
    "medium": "yellow",
    "low": "dim",
    "good": "green",
    "error": "bold red",
    "warning": "yellow",
    "info": "blue",
    "tag": "magenta",
}


class Screen:
    """A rich console on one stream."""

    def __init__(self, stream: IO[str], width: int | None) -> None:
        from rich.console import Console

        self._console = Console(
            file=stream,
            force_terminal=True,
            width=width,
            highlight=False,
            markup=False,
            emoji=False,
        )

    def print(self, block: Block) -> None:
        """Draw one block."""
        if isinstance(block, Text):
            from rich.text import Text as RichText

            self._console.print(RichText(clean(block.text).rstrip("\n")), soft_wrap=True)
        elif isinstance(block, Line):
            self._print_line(block)
        elif isinstance(block, Tree):
            self._console.print(_tree(block))
        else:
            self._console.print(_table(block, self._console.width))

    def _print_line(self, block: Line) -> None:
        """Print a line. A word that is wider than a row, such as a path, is not broken."""
        text = _text(block)
        width = self._console.width
        if block.indent + width_of(text.plain) > width:
            rows = _rows(text.plain, width - block.indent, block.hang)
            for number, (start, end) in enumerate(rows):
                blanks = " " * (block.indent + (block.hang if number else 0))
                self._console.print(blanks, text[start:end], sep="", soft_wrap=True)
            return
        self._console.print(_line(block))


def _rows(text: str, width: int, hang: int) -> list[tuple[int, int]]:
    """Return the (start, end) of each row of a text, broken at blanks between words."""
    rows = []
    start = end = 0
    room = width
    for word in text.split(" "):
        place = end + 1 if end > start else end
        if end > start and width_of(text[start : place + len(word)]) > room:
            rows.append((start, end))
            start, room = place, width - hang
        end = place + len(word)
    return [*rows, (start, end)]


def _style(name: str) -> str:
    return _STYLES.get(name, "")


def _text(block: Line) -> Any:
    from rich.text import Text as RichText

    text = RichText()
    for span in block.spans:
        text.append(safe(span.text), _style(span.style))
    return text


def _line(block: Line) -> Any:
    from rich.padding import Padding

    text = _text(block)
    return Padding(text, (0, 0, 0, block.indent)) if block.indent else text


def _table(table: Table, width: int) -> Any:
    """Return a table with fixed widths; rich would shrink all columns alike."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    texts = [
        [clean_line(cell if isinstance(cell, str) else cell.text) for cell in row]
        for row in table.rows
    ]
    titles = [[column.title for column in table.columns]] if table.head else []
    # rich counts the padding of both edges, drawn or not.
    gap, edges = (3, 4) if table.head else (2, 2)
    visible, widths = fit_columns([*titles, *texts], table.columns, width - edges, gap)
    columns = [table.columns[number] for number in visible]
    shape = box.SIMPLE_HEAD if table.head else None
    grid = RichTable(box=shape, show_header=table.head, pad_edge=False, header_style="bold dim")
    for column, fixed in zip(columns, widths, strict=True):
        grid.add_column(
            column.title,
            justify="right" if column.right else "left",
            width=fixed,
            no_wrap=bool(column.cut) or not (column.wide or table.wrap),
            overflow="fold" if column.wide or table.wrap else "ellipsis",
        )
    for cells, row in zip(texts, table.rows, strict=True):
        grid.add_row(
            *(
                RichText(
                    cut(cells[number], fixed, column.cut) if column.cut else cells[number],
                    _cell(row[number], column),
                )
                for number, column, fixed in zip(visible, columns, widths, strict=True)
            )
        )
    return grid


def _cell(cell: Span | str, column: Column) -> str:
    """Return the style of a cell."""
    own = cell.style if isinstance(cell, Span) else ""
    return _style(own or column.style)


def _tree(tree: Tree) -> Any:
    from rich.tree import Tree as RichTree

    branch = RichTree(_line(tree.line), guide_style="dim")
    for child in tree.children:
        branch.children.append(_tree(child))
    return branch
