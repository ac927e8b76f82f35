"""Variants: one skill in several places whose files differ a little.

Projects keep a skill in the folder of each agent host, with other paths and names of hosts in it,
and its translations beside the documentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from skillyard.engine.catalog.entries import Entry
from skillyard.engine.skill import Origin

MIN_OVERLAP = 0.4
"""Jaccard index of the word trigrams from which two texts of one name are one skill.

Measured on 2,000 same-named skills of 27 repositories and of a public corpus: copies for other
hosts have a median of 0.99 and are above 0.58 but for rewritten ones; different skills of one name
within a repository are below 0.02, or below 0.39 where they share a template."""
MAX_CHARS = 20_000
"""Characters that are compared: nine of ten skills are shorter."""

_LANGUAGE = re.compile(
    r"/(?:(?:docs|i18n|l10n|lang|locales?|translations?)/([a-z]{2})"
    r"|([a-z]{2}[-_](?:[A-Z]{2}|Han[st]))|(zh|ja|ko|zh-cn|zh-tw|pt-br))/"
)
"""A folder of translations, as ``docs/tr``, ``ja-JP`` or ``zh``. Two letters alone may be anything
else, as ``go``."""


def language_of(entry: Entry) -> str:
    """Return the name of the folder of translations that a file lies in; empty for none."""
    match = _LANGUAGE.search("/" + "/".join(entry.candidate.parts[:-1]) + "/")
    return "" if match is None else next(filter(None, match.groups()))


class Comparison:
    """Which files of one name are variants of one skill. Each pair of texts is compared once."""

    def __init__(self, text_of: Callable[[Entry], str], known: Mapping[str, bool] | None = None):
        """``text_of`` returns the instructions of an entry, ``known`` are earlier ``results``."""
        self.results: dict[str, bool] = {}
        """By the beginnings of both hashes."""
        self._known = known or {}

        @lru_cache(maxsize=32)
        def trigrams(entry: Entry) -> frozenset[tuple[str, ...]]:
            words = re.findall(r"\w+", text_of(entry)[:MAX_CHARS].lower())
            return frozenset(zip(words, words[1:], words[2:], strict=False))

        self._trigrams = trigrams

    def is_variant(self, entry: Entry, other: Entry) -> bool:
        """True for translations, and for nearly equal texts. Oasis tells skills apart by ids."""
        if entry.skill is None or other.skill is None:
            return False
        if Origin.OASIS in (entry.skill.origin, other.skill.origin):
            return False
        folder = entry.candidate.folder
        if folder and folder == other.candidate.folder and language_of(entry) != language_of(other):
            return True
        key = "".join(sorted((entry.skill.hash[:16], other.skill.hash[:16])))
        if key not in self.results:
            known = self._known.get(key)
            self.results[key] = self._is_near(entry, other) if known is None else known
        return self.results[key]

    def _is_near(self, entry: Entry, other: Entry) -> bool:
        ours, theirs = self._trigrams(entry), self._trigrams(other)
        return len(ours & theirs) >= MIN_OVERLAP * max(1, len(ours | theirs))
