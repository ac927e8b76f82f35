"""Recognises the lines that open and close fenced code blocks (spec/evals.md §1.6, step 2)."""

from __future__ import annotations

import re

__all__ = ["closes_fence", "opening_fence"]

# A run of backticks whose line holds another one is inline code, not the opening of a block.
_OPENING = re.compile(r"[ \t]*(?:(`{3,}+)[^`]*|(~{3,}+).*)")


def opening_fence(line: str) -> str:
    """Return the marks with which a line opens a block, at any indentation; empty if it does not.

    Three or more backticks without another one behind them, or three or more tildes.
    """
    opening = _OPENING.fullmatch(line)
    return "" if opening is None else opening[1] or opening[2]


def closes_fence(line: str, fence: str) -> bool:
    """True when a line ends the block that ``fence`` opened: as many of its marks, nothing else."""
    mark = line.strip(" \t")
    return len(mark) >= len(fence) and mark == fence[0] * len(mark)
