"""The two outputs of a command: data on standard output, everything else on standard error."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, TypeVar

from skillyard.base.invisible import clean
from skillyard.base.text import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from skillyard.cli.blocks import Block, Span
    from skillyard.cli.progress import ReportProgress

    _Result = TypeVar("_Result")


_FILE_COLUMNS = 100
"""Width of drawn tables without a terminal."""


def is_terminal(stream: IO[str]) -> bool:
    """True when the stream is a terminal; False for a closed one."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


class Console:
    """The two output streams of one run."""

    def __init__(self, *, json: bool = False, color: str = "auto", quiet: bool = False) -> None:
        self.json = json
        self.quiet = quiet
        self._color = color

    def print(self, *blocks: Block) -> None:
        """Print blocks on standard output, in colour on a terminal and plain elsewhere."""
        from skillyard.cli.plain import rows_of

        screen, width = self._screen, None
        if screen is not None or is_terminal(sys.stdout):
            from shutil import get_terminal_size

            width = get_terminal_size((_FILE_COLUMNS, 24)).columns
        for block in blocks:
            for row in rows_of(block, width):
                if screen is None:
                    sys.stdout.write("".join(span.text for span in row).rstrip() + "\n")
                else:
                    screen(row)

    def write(self, text: str) -> None:
        """Print text of several lines, cleaned, with one line end after it."""
        sys.stdout.write(clean(text).rstrip("\n") + "\n")

    def document(self, value: Any) -> None:
        """Print a shape as one JSON document: on one line, or indented on a terminal."""
        from json import dumps

        from skillyard.base.shapes.encoder import ClientDocument, encode

        shape = value.document() if hasattr(value, "document") else value
        is_shape = isinstance(shape, ClientDocument) or not hasattr(shape, "to_dict")
        members = encode(shape) if is_shape else shape.to_dict()
        indent = 2 if is_terminal(sys.stdout) else None
        sys.stdout.write(dumps(members, ensure_ascii=True, indent=indent) + "\n")

    def show(self, value: _Result, view: Callable[[_Result], Iterable[Block]]) -> None:
        """Print a result: its JSON document with ``--json``, else the blocks of a view."""
        if self.json:
            self.document(value)
        else:
            self.print(*view(value))

    def show_text(self, value: object, text: str) -> None:
        """Print a result: its JSON document with ``--json``, else the text."""
        if self.json:
            self.document(value)
        elif text:
            self.write(text)

    def progress(self, what: str) -> AbstractContextManager[ReportProgress | None]:
        """Return a context with a function that updates a line; with None without a terminal."""
        if self.quiet or sys.stderr is None or not is_terminal(sys.stderr):
            return nullcontext()
        from skillyard.cli.progress import progress_line

        return progress_line(what)

    def note(self, text: str) -> None:
        """Print one remark on standard error, unless --quiet is given."""
        if not self.quiet:
            complain(text)

    def remark(self, text: str) -> None:
        """Print a note beside an answer that people read; with ``--json`` the document has it."""
        if not self.json:
            self.note(text)

    @property
    def can_confirm(self) -> bool:
        """True where a person can be asked: on a terminal, without --json."""
        streams = (sys.stdin, sys.stderr)
        return not self.json and all(each is not None and is_terminal(each) for each in streams)

    def confirm(self, question: str) -> bool:
        """Ask on the terminal; False without one, with --json, and for anything but yes."""
        return self.ask(f"{question} [y/N]").lower() in ("y", "yes")

    def ask(self, question: str) -> str:
        """Return what is answered on the terminal; empty without one."""
        if not self.can_confirm:
            return ""
        sys.stdout.flush()
        sys.stderr.write(f"{clean(question)} ")
        sys.stderr.flush()
        return sys.stdin.readline().strip()

    @cached_property
    def _screen(self) -> Callable[[Sequence[Span]], None] | None:
        """What draws in colour: by ``--color``, then by NO_COLOR (if not empty) and TERM=dumb."""
        refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        refused = refused or not is_terminal(sys.stdout)
        if self._color == "never" or (self._color == "auto" and refused):
            return None
        try:
            from rich.console import Console as Terminal
            from rich.text import Text
        except ImportError:  # without rich, plain text
            return None
        terminal = Terminal(file=sys.stdout, force_terminal=True, highlight=False)

        def draw(row: Sequence[Span]) -> None:
            text = Text.assemble(*((span.text, _STYLES.get(span.style, "")) for span in row))
            text.rstrip()
            terminal.print(text, soft_wrap=True)

        return draw


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


def complain(text: str) -> None:
    """Print one line on standard error, cleaned and without passwords and tokens."""
    try:
        print(clean(without_secrets(text)), file=sys.stderr)
    except (OSError, ValueError, AttributeError):  # standard error is closed
        pass
