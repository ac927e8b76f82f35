"""Texts for people: the status of sources, failures, numbers, reasons."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from skillyard.base.errors import UnknownName
from skillyard.base.text import clean_line, plural, shorten
from skillyard.engine.ranking.registry import resolve
from skillyard.install.search import SourceStatus

_FAILURES: Mapping[str, str] = {
    "bad_answer": "gave an answer that cannot be read",
    "denied": "refused access",
    "not_found": "is not there",
    "offline": "not asked, for this service is offline",
    "rate_limited": "rate-limited",
    "refused": "leads to an address that is not followed",
    "status": "answered with an error",
    "timeout": "did not answer in time",
    "too_large": "gave an answer that is too large",
    "unreachable": "cannot be reached",
}


def number(value: float) -> str:
    """Return a number with three digits or more."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def score_words(value: float) -> str:
    """Return a score with two decimals, as the command line prints it."""
    return f"{value:.2f}" if math.isfinite(value) else "–"


def failure_words(code: str, retry_after_s: float | None = None) -> str:
    """Return a failure as text, and when to try again."""
    words = _FAILURES.get(code, "failed")
    if retry_after_s is None or not math.isfinite(retry_after_s):
        return words
    seconds = max(1, math.ceil(retry_after_s))
    minutes = math.ceil(seconds / 60)
    wait = f"{math.ceil(minutes / 60)} h" if minutes >= 120 else f"{minutes} min"
    return f"{words}, try again in {wait if seconds >= 120 else f'{seconds} s'}"


def status_words(status: SourceStatus) -> str:
    """Return the status of one source in a search as text."""
    count = f"{plural(status.found, 'skill')} found"
    if status.state == "ok":
        return count
    failure = failure_words(status.code, status.retry_after_s)
    return failure if status.state == "failed" else f"{count}, but one place {failure}"


def reason_words(reason: str) -> str:
    """Return the reason of a score as part of a sentence: ``words pdf, form; called by name``."""
    pieces = [clean_line(piece).replace(": ", " ", 1) for piece in reason.split(" | ")]
    return shorten("; ".join(piece for piece in pieces if piece), 300)


def reason_pieces(reason: str) -> list[str]:
    """Return what was matched, in the scorer's words."""
    pieces = [clean_line(piece) for piece in reason.split(" | ")]
    return [shorten(piece, 200) for piece in pieces if piece]


def size_words(size: int) -> str:
    """Return a number of bytes in a suitable unit."""
    if size < 1_024:
        return plural(size, "byte")
    return f"{size / 1_024:,.1f} KiB" if size < 1_024**2 else f"{size / 1_024**2:,.1f} MiB"


def title_words(label: str) -> str:
    """Return the label of a signal with words instead of identifiers."""
    return label.replace("_", " ").strip() or "–"


def sentence(text: str) -> str:
    """Return a message as a sentence, with a capital and a full stop."""
    capital = text[:1].upper() + text[1:]
    return capital if capital.endswith((".", "?", "!", "…")) else f"{capital}."


_MAX_POINTS: Mapping[str, float] = {"relevance": 108.0}
"""The maximum score in points, if the scorer's document defines one."""


class Scale(NamedTuple):
    """How the scores of a scorer are drawn."""

    full: float
    """The score of a full bar; 0 for a scorer without a scale, which has no bars."""
    words: str
    """The scale as a sentence."""

    def share(self, value: float) -> float:
        """Return the share of a bar that a value fills, 0..1."""
        if self.full <= 0 or not math.isfinite(value):
            return 0.0
        return min(1.0, max(0.0, value / self.full))


def scale_of(scorer: str) -> Scale:
    """Return the scale of a scorer by its name.

    A bar is never relative to the best of an answer, so that a weak answer looks weak.
    """
    try:
        resolved = resolve(scorer)
    except UnknownName:
        return Scale(0.0, f"Scores are those of {scorer}, and not drawn as bars.")
    if resolved.scale == "0..1":
        full = 1.0
    elif scorer in _MAX_POINTS:
        full = _MAX_POINTS[scorer]
    else:
        floors = [level.floor for level in resolved.levels]
        full = max(floors, default=max(0.0, resolved.default_policy.min_score))
    if not full:
        words = f"Scores of {resolved.name} have no upper end, so they are not drawn as bars."
        return Scale(0.0, words)
    return Scale(full, f"A full bar is a score of {full:.3g}, whatever was asked.")
