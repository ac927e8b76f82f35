"""Texts of models and judges for a report: shortened, with hidden characters made visible."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from skillyard.evals.report.markup import visible
from skillyard.evals.report.words import whole

__all__ = ["RAW_LIMIT", "TEXT_LIMITS", "TEXT_TOTAL", "DisplayText", "Texts", "cut"]

TEXT_TOTAL = 6_000_000
"""Characters of answers in one report, about: what a browser on a phone opens without pausing."""
TEXT_LIMITS = (1_000, 20_000)
"""Least and most characters that are shown of one answer."""
RAW_LIMIT = 4_000
"""Most characters of a request, a reasoning, an error or a judge's raw reply."""


class DisplayText(NamedTuple):
    """A text as it is shown, and a note where that is not all of it."""

    text: str
    note: str = ""


class Texts:
    """The texts of generations and judgements, cut to a limit that all of them fit into."""

    def __init__(self, text_of: Callable[[str], str | None], answers: int) -> None:
        least, most = TEXT_LIMITS
        self._text_of = text_of
        self._cache: dict[tuple[str, int], DisplayText | None] = {}
        fitting = TEXT_TOTAL // max(answers, 1) // 1_000 * 1_000
        self.limit = max(least, min(most, fitting))
        """Most characters that are shown of one answer."""

    def answer(self, path: str) -> DisplayText | None:
        """Return the stored answer at a path; None where it is missing."""
        return self._load(path, self.limit)

    def raw(self, path: str) -> DisplayText | None:
        """Return the stored reply of a judge; None where it is missing."""
        return self._load(path, RAW_LIMIT)

    def _load(self, path: str, limit: int) -> DisplayText | None:
        if (path, limit) not in self._cache:
            text = self._text_of(path) if path else None
            self._cache[path, limit] = None if text is None else cut(text, limit)
        return self._cache[path, limit]


def cut(text: str, limit: int) -> DisplayText:
    """Return a text as it is shown, at most ``limit`` characters of it, and a note of that."""
    if len(text) <= limit:
        return DisplayText(visible(text))
    note = f"Cut after {whole(limit)} of {whole(len(text))} characters."
    return DisplayText(visible(text[:limit]), note)
