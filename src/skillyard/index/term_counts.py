"""The terms of a text with how often each stands there, by the kernel where it was built.

The kernel knows the analyzer's chain for ASCII and for Han, kana and Hangul. Words of other scripts
go through :data:`~skillyard.analysis.STANDARD`, which is also what answers without a kernel.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any

from skillyard.analysis import STANDARD
from skillyard.analysis.filters import MAX_COMPOUND_PARTS, MAX_TERM_CHARS
from skillyard.analysis.stemmer import MIN_STEMMED_CHARS, stem_word
from skillyard.analysis.stopwords import ENGLISH
from skillyard.analysis.technical import TECHNICAL
from skillyard.index.kernel import KERNEL

__all__ = ["kernel_terms", "term_counts"]

MAX_CACHED_SURFACES = 400_000
"""Surfaces whose terms the kernel keeps, about 40 MB; then its memory starts anew."""


def term_counts(text: str) -> dict[str, int]:
    """Return how often each term stands in ``text``; the order is that of first sight."""
    if KERNEL is None:
        return STANDARD.counts(text)
    return kernel_terms().counts(text)  # type: ignore[no-any-return]


@cache
def kernel_terms(remembered: int = MAX_CACHED_SURFACES) -> Any:
    """Return the kernel's analyzer, made when it is first needed."""
    return KERNEL.Terms(
        STANDARD.filtered,
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
    """Return which of 256 characters are part of words, a bit for each: 32 bytes."""
    first = number << 8
    bits = sum(1 << place for place in range(256) if re.match(r"\w", chr(first + place)))
    return bits.to_bytes(32, "little")
