"""Rules about the text form of a file: byte order mark, line ends, trailing spaces.

None of these faults changes the result of lenient parsing, and ``check --fix`` repairs all of them
(:mod:`skillyard.check.validation.fixes`). Source: known problems of frontmatter parsers.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillyard.check.validation.rule import Finding, define_rule
from skillyard.check.validation.view import Kind, View

_SOURCE = "reading: text files"
_BOM = "\ufeff"


@define_rule(
    "byte_order_mark",
    "The file starts with a byte order mark",
    _SOURCE,
    "remove it, or let `check --fix` do it: strict readers find no frontmatter behind it",
    kinds=Kind.SKILLS,
)
def _byte_order_mark(view: View) -> Iterator[Finding]:
    if view.raw.startswith(_BOM):
        yield Finding("a byte order mark stands before the first line", 1, column=1)


@define_rule(
    "line_ends_crlf",
    "The lines end with CR and LF",
    _SOURCE,
    "save the file with LF line ends, or let `check --fix` do it",
    kinds=Kind.SKILLS,
)
def _line_ends_crlf(view: View) -> Iterator[Finding]:
    first = view.raw.find("\r\n")
    if first >= 0:
        yield Finding("lines end with CR and LF", view.raw.count("\n", 0, first) + 1)


@define_rule(
    "trailing_blanks",
    "A line of the frontmatter ends with blanks",
    _SOURCE,
    "remove them, or let `check --fix` do it",
    kinds=Kind.SKILLS,
)
def _trailing_blanks_found(view: View) -> Iterator[Finding]:
    for number, line in enumerate(view.block.split("\n")):
        column = trailing_blanks(line)
        if column:
            yield Finding("blanks stand at the end of the line", number + 2, column=column)


def trailing_blanks(line: str) -> int:
    """Return the 1-based column at which trailing spaces begin, 0 when there are none."""
    stripped = line.rstrip(" \t")
    return len(stripped) + 1 if len(stripped) < len(line) else 0


@define_rule(
    "final_newline_missing",
    "The last line has no line end",
    _SOURCE,
    "end the file with a line feed, or let `check --fix` do it",
    kinds=Kind.SKILLS,
)
def _final_newline_missing(view: View) -> Iterator[Finding]:
    if view.raw and not view.raw.endswith("\n"):
        last = view.raw.rfind("\n") + 1
        line = view.raw.count("\n") + 1
        yield Finding("the last line has no line end", line, column=len(view.raw) - last + 1)


CHECKS = (_byte_order_mark, _line_ends_crlf, _trailing_blanks_found, _final_newline_missing)
