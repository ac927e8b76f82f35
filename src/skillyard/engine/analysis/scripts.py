"""Scripts: splits words by script, and knows which scripts are written without blanks."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from functools import cache

# First code point of each block that matters here, its class, ascending. Blocks as in the
# Unicode Character Database, Blocks.txt; neighbours of one class are merged.
_STARTS = (
    (0x0000, "other"), (0x0041, "latin"), (0x0250, "other"), (0x0370, "greek"),
    (0x0400, "cyrillic"), (0x0530, "armenian"), (0x0590, "hebrew"), (0x0600, "arabic"),
    (0x0700, "other"), (0x0900, "devanagari"), (0x0980, "indic"), (0x0E00, "thai"),
    (0x0F00, "other"), (0x1000, "myanmar"), (0x10A0, "georgian"), (0x1100, "hangul"),
    (0x1200, "ethiopic"), (0x13A0, "other"), (0x1780, "khmer"), (0x1800, "other"),
    (0x1E00, "latin"), (0x1F00, "greek"), (0x2000, "other"), (0x2E80, "han"),
    (0x3040, "kana"), (0x3100, "han"), (0x3130, "hangul"), (0x3190, "han"),
    (0x31F0, "kana"), (0x3200, "han"), (0xA000, "other"), (0xAC00, "hangul"),
    (0xD800, "other"), (0xF900, "han"), (0xFB00, "latin"), (0xFB1D, "hebrew"),
    (0xFB50, "arabic"), (0xFE00, "other"), (0xFF66, "kana"), (0xFFA0, "hangul"),
    (0xFFE0, "other"), (0x20000, "han"), (0x32000, "other"),
)  # fmt: skip
_FIRST = [start for start, _ in _STARTS]
_CLASS = [name for _, name in _STARTS]

_UNSPACED = frozenset({"han", "kana", "hangul", "thai", "khmer", "myanmar"})
"""Written without blanks, or (Hangul) with attached endings."""
_DIGITS = frozenset("0123456789")


def _class(char: str) -> str:
    return _CLASS[bisect_right(_FIRST, ord(char)) - 1]


def script_runs(word: str) -> list[tuple[str, bool]]:
    """Return (run of one script, whether it is unspaced); digits belong to the preceding run.

    Han and kana are one script here: Japanese words mix them.
    """
    runs: list[tuple[str, bool]] = []
    start, current = 0, ""
    for place, char in enumerate(word):
        if char in _DIGITS and current:
            continue
        kind = _class(char)
        kind = "han" if kind == "kana" else kind
        if kind == "other":  # combining marks belong to the preceding character
            kind = current or kind
        if current and kind != current:
            runs.append((word[start:place], current in _UNSPACED))
            start = place
        current = kind
    runs.append((word[start:], current in _UNSPACED))
    return [run for run in runs if run[0]]


def latin_share(text: str) -> float:
    """Return the share of Latin letters among the letters of ``text``, 0..1; 1.0 without any."""
    if text.isascii():
        return 1.0
    others = sum(map(str.isalpha, "".join(_not_latin().findall(text))))
    if not others:
        return 1.0
    letters = sum(map(str.isalpha, text))
    return (letters - others) / letters


@cache
def _not_latin() -> re.Pattern[str]:
    """Return the pattern of runs outside the blocks of Latin letters and what precedes them."""
    ends = (*_FIRST[1:], sys.maxunicode + 1)
    latin = [(a, b) for a, b, name in zip(_FIRST, ends, _CLASS, strict=True) if name == "latin"]
    spans = [f"{chr(start)}-{chr(end - 1)}" for start, end in [(0, latin[0][1]), *latin[1:]]]
    return re.compile(f"[^{''.join(spans)}]+")
