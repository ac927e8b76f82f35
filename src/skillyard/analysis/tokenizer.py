"""Text to surfaces: the words as they were written, before any filter.

A surface is a maximal run of letters and digits with the joiners that technical writing puts
inside a word (``fast-api``, ``snake_case``, ``next.js``, ``don't``), a leading dot (``.net``) and
the endings of a few language names (``c++``, ``c#``). A slash joins nothing: paths fall apart.
"""

from __future__ import annotations

import re

__all__ = ["JOINERS", "surfaces"]

JOINERS = "-_.'’"
"""What may stand inside one surface."""

# A run of word characters may hold underscores; what it holds is taken apart later. The pattern
# has no nested repetition over the same characters, so it is linear.
_SURFACE = re.compile(r"\.?\w+(?:[-.'’]\w+)*(?:\+\+|#)?")


def surfaces(text: str) -> list[str]:
    """Return the surfaces of ``text`` in order, repetitions kept."""
    return _SURFACE.findall(text)
