"""Counts the terms of a text, with the kernel when it is available.

The kernel implements the analyzer for ASCII, Han, kana and Hangul. It passes words of other
scripts to :data:`~skillyard.engine.analysis.STANDARD`, which is also used without a kernel.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any

from skillyard.engine.analysis import STANDARD
from skillyard.engine.analysis.analyzer import (
    ENGLISH,
    MAX_COMPOUND_PARTS,
    MAX_TERM_CHARS,
    MIN_STEMMED_CHARS,
    TECHNICAL,
    stem_word,
)
from skillyard.engine.index.kernel import KERNEL

MAX_CACHED_SURFACES = 400_000
"""Tokens whose terms the kernel caches: about 40 MB. A full cache is cleared."""


def term_counts(text: str) -> dict[str, int]:
    """Return the count of each term of ``text``, in order of first occurrence."""
    if KERNEL is None:
        return STANDARD.counts(text)
    return kernel_terms().counts(text)  # type: ignore[no-any-return]


@cache
def kernel_terms(remembered: int = MAX_CACHED_SURFACES) -> Any:
    """Return the kernel's analyzer, created on first use."""
    return KERNEL.Terms(
        STANDARD.of_surface,
        stem_word,
        _word_page,
        TECHNICAL,
        tuple(sorted(ENGLISH)),
        MAX_TERM_CHARS,
        MAX_COMPOUND_PARTS,
        MIN_STEMMED_CHARS,
        remembered,
        os.urandom(16),
    )


def _word_page(number: int) -> bytes:
    """Return 32 bytes, one bit for each of 256 characters: set for word characters."""
    first = number << 8
    bits = sum(1 << place for place in range(256) if re.match(r"\w", chr(first + place)))
    return bits.to_bytes(32, "little")
