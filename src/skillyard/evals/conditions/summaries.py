"""Extracts the summary of a skill: its description and its Scope section.

The algorithm is that of the size-impact document, as read in spec/evals.md §1.6. It runs in linear
time and raises nothing for any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from skillyard.arguments import check_arguments
from skillyard.evals.conditions.document import split_document
from skillyard.evals.conditions.fences import closes_fence, opening_fence

__all__ = ["Parts", "extract_summary", "parts", "scope_of"]

JOINT = "\n"
"""The separator of description and scope (size-impact document)."""
_LEVEL_TWO = re.compile(r" {0,3}##(?:[ \t](.*))?")
_REFERENCE = re.compile(r"\[skill:[^\]\n]+\]")
_BLANK_RUN = re.compile(r"\n{3,}")


class Parts(NamedTuple):
    """The parts of a summary; either may be empty."""

    description: str
    scope: str

    @property
    def text(self) -> str | None:
        """Both parts joined by one line feed, an empty one left out; None when both are empty."""
        return JOINT.join(filter(None, self)) or None


@check_arguments
def extract_summary(text: str) -> str | None:
    """Return the deterministic summary of a SKILL.md text, or None when it would be empty.

    It is the frontmatter's ``description``, one line feed, and the first ``## Scope`` section
    without fenced code and without ``[skill:name]`` references. Raises nothing.
    """
    return parts(text).text


def parts(text: str) -> Parts:
    """Return the description and the scope of a SKILL.md text. Raises nothing."""
    document = split_document(text)
    return Parts(document.description, scope_of(document.body))


def scope_of(body: str) -> str:
    """Return the content of the first ``## Scope`` section of a body with LF line ends.

    The section ends before the next level-2 heading. Headings inside fenced code are ignored.
    Headings of other levels belong to the section.
    """
    lines: list[str] = []
    inside = False
    for line in _outside_fences(body):
        title = _level_two_title(line)
        if title is None:
            if inside:
                lines.append(_without_references(line))
        elif inside:
            break
        else:
            inside = title == "Scope"
    return _BLANK_RUN.sub("\n\n", "\n".join(lines)).strip()


def _outside_fences(body: str) -> Iterator[str]:
    """Yield the lines outside fenced code; a block that is never closed runs to the end."""
    fence = ""
    for line in body.split("\n"):
        if fence:
            fence = "" if closes_fence(line, fence) else fence
        elif not (fence := opening_fence(line)):
            yield line


def _level_two_title(line: str) -> str | None:
    """Return the text of an ATX heading of level 2 (CommonMark 0.31, §4.2); None for other lines.

    Closing hashes are no text, and count as such only behind a blank.
    """
    heading = _LEVEL_TWO.fullmatch(line)
    if heading is None:
        return None
    title = (heading[1] or "").strip(" \t")
    bare = title.rstrip("#")
    return title if bare and bare[-1] not in " \t" else bare.rstrip(" \t")


def _without_references(line: str) -> str:
    # Only the text before the last bracket can hold a whole reference. Looking no further keeps
    # the search linear in a line of many openings without an end.
    head, bracket, tail = line.rpartition("]")
    return _REFERENCE.sub("", head + bracket) + tail
