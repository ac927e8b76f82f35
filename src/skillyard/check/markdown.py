"""Finds the code in Markdown: what stands in it is shown, and neither a link nor an order."""

from __future__ import annotations

import re
from typing import NamedTuple

_FENCE = re.compile(
    r"^[ \t]{0,12}(`{3,20}(?![^\n]*`)|~{3,20})[ \t]{0,8}([^\s`]{0,40})", re.MULTILINE
)
_SPAN = re.compile(r"(?<!`)`++[^`\n]*+`++")


class Fence(NamedTuple):
    """A code block."""

    start: int
    end: int
    language: str


def fences(text: str) -> list[Fence]:
    """Return the code blocks of a text, in order. One that is never closed ends with the text."""
    blocks: list[Fence] = []
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opened is None:
            opened = match
        elif match[1].startswith(opened[1]) and not match[2]:
            blocks.append(Fence(opened.end(), match.start(), opened[2].lower()))
            opened = None
    if opened is not None:
        blocks.append(Fence(opened.end(), len(text), opened[2].lower()))
    return blocks


def prose_lines(text: str, *, keeps_spans: bool = False) -> list[str]:
    """Return the lines of a text without its code; those of code blocks are blank."""
    pieces, at = [], 0
    for fence in fences(text):
        pieces += [text[at : fence.start], "\n" * text.count("\n", fence.start, fence.end)]
        at = fence.end
    prose = "".join([*pieces, text[at:]])
    return (prose if keeps_spans else _SPAN.sub(" ", prose)).split("\n")
