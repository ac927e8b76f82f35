"""Blocks for a terminal, coloured by rich. Markup in the text is text: nothing is interpreted."""

from __future__ import annotations

from typing import IO

from skillyard.cli.blocks import Block
from skillyard.cli.plain import rows_of

_STYLES = {
    "head": "bold",
    "title": "bold dim",
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

        self._console = Console(file=stream, force_terminal=True, width=width, highlight=False)

    def print(self, block: Block, ascii_only: bool = False) -> None:
        """Draw one block."""
        from rich.text import Text

        for row in rows_of(block, self._console.width, ascii_only):
            text = Text()
            for span in row:
                text.append(span.text, _STYLES.get(span.style, ""))
            text.rstrip()
            self._console.print(text, soft_wrap=True)
