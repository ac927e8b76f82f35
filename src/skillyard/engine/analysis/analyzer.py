"""The analyzer: a tokenizer and a chain of filters, the same for skills and for queries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import reduce

from skillyard.engine.analysis.filters import (
    Filter,
    bigrams,
    compatible,
    fold,
    known_terms,
    split_compounds,
    split_scripts,
    stem,
    stop,
)

VERSION = 2
"""Version of the analysis. Indexes of another version are rebuilt."""

# A run of word characters may hold underscores; what it holds is taken apart later. The pattern
# has no nested repetition over the same characters, so it is linear.
_SURFACE = re.compile(r"\.?\w+(?:[-.'’]\w+)*(?:\+\+|#)?")


def surfaces(text: str) -> list[str]:
    """Return the surfaces of ``text`` in order, repetitions kept: the words before any filter.

    A surface is a maximal run of letters and digits with the joiners that technical writing puts
    inside a word (``fast-api``, ``snake_case``, ``next.js``, ``don't``), a leading dot (``.net``)
    and the endings of a few language names (``c++``, ``c#``). A slash joins nothing: paths fall
    apart.
    """
    return _SURFACE.findall(text)


MAX_CACHED_SURFACES = 400_000
"""Tokens whose terms are cached: about 60 MB. A full cache is cleared."""


class Analyzer:
    """A tokenizer and a chain of filters: text → terms. Thread-safe.

    ``analyzer | filter`` returns a new analyzer with the filter appended.
    """

    __slots__ = ("_known", "filters", "tokenizer")

    def __init__(
        self, tokenizer: Callable[[str], list[str]], filters: tuple[Filter, ...] = ()
    ) -> None:
        self.tokenizer = tokenizer
        self.filters = filters
        self._known: dict[str, tuple[str, ...]] = {}

    def __or__(self, last: Filter) -> Analyzer:
        return Analyzer(self.tokenizer, (*self.filters, last))

    def of_surface(self, surface: str) -> tuple[str, ...]:
        """Return the terms of one token of the tokenizer, in order. The result is cached."""
        terms = self._known.get(surface)
        if terms is None:
            if len(self._known) >= MAX_CACHED_SURFACES:
                self._known.clear()
            terms = self._known[surface] = self.filter_surface(surface)
        return terms

    def filter_surface(self, surface: str) -> tuple[str, ...]:
        """Return the same as :meth:`of_surface`, without the cache."""
        tokens = reduce(lambda tokens, step: step(tokens), self.filters, [surface])
        return tuple([token for token in tokens if token])

    def terms(self, text: str) -> list[str]:
        """Return the terms of ``text`` in order, with repetitions."""
        of = self.of_surface
        return [term for surface in self.tokenizer(text) for term in of(surface)]

    def counts(self, text: str) -> dict[str, int]:
        """Return the count of each term of ``text``, in order of first occurrence."""
        counts: dict[str, int] = {}
        known, of = self._known, self.of_surface
        for surface, number in Counter(self.tokenizer(text)).items():
            terms = known.get(surface)
            for term in of(surface) if terms is None else terms:
                counts[term] = counts.get(term, 0) + number
        return counts


STANDARD = (
    Analyzer(surfaces)
    | compatible
    | known_terms
    | split_compounds
    | split_scripts
    | fold
    | bigrams
    | stop
    | stem
)
"""The chain of the index and of ``hybrid``."""
