"""The searcher over segments that asks the C kernel: the same answers, sooner.

Python checks what is read for the first time; everything else of a question happens in one call.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from struct import Struct
from typing import Any

from skillyard.index.kernel import KERNEL
from skillyard.index.manifest import Manifest
from skillyard.index.reader import MASK, SHIFT, SegmentSearcher
from skillyard.index.searcher import CANDIDATES, MOST_TERMS, Weights, first_terms

__all__ = ["KernelSearcher"]

REMEMBERED = 100_000
"""Terms whose place is kept, a few megabytes."""
_SPAN = Struct("qqq")
_NOWHERE = _SPAN.pack(-1, 0, 0)


class KernelSearcher(SegmentSearcher):
    """The searcher over the segments of one generation, through the kernel."""

    def __init__(
        self,
        folder: str,
        manifest: Manifest,
        data: memoryview,
        before: SegmentSearcher | None = None,
    ) -> None:
        super().__init__(folder, manifest, data, before)
        self._made: Any = None
        self._spans: dict[str, bytes] = {}
        self._held: dict[str, int] = {}
        self._sound = False

    @property
    def _engine(self) -> Any:
        if self._made is None:
            parts = [segment.for_kernel() for segment in self.segments]
            self._made = KERNEL.Engine(parts, self.dimensions)
        return self._made

    def frequency(self, term: str) -> int:
        """Return how many live documents hold the term."""
        found = self._held.get(term)
        if found is None:
            found = super().frequency(term)
            if len(self._held) < REMEMBERED:
                self._held[term] = found
        return found

    def known(self, terms: Sequence[str]) -> list[str]:
        """Return those of the terms that live documents hold, in their order."""
        numbers = list(map(self._held.get, terms))  # most were looked up before
        if None in numbers:
            return super().known(terms)
        return [term for term, number in zip(terms, numbers, strict=True) if number]

    def _span(self, term: str) -> bytes:
        """Return where a term stands in each segment, its postings checked once and for all."""
        packed = b"".join(
            [
                _SPAN.pack(number, *segment.check_postings(number)) if number >= 0 else _NOWHERE
                for segment, number in zip(self.segments, self._numbers(term), strict=True)
            ]
        )
        if len(self._spans) < REMEMBERED:
            self._spans[term] = packed
        return packed

    def _asked(self, weights: Weights) -> tuple[list[bytes], list[float]]:
        known = self._spans
        spans = [known.get(term) or self._span(term) for term, _ in weights]
        return spans, [weight for _, weight in weights]

    def impacts(self, ordinal: int, terms: Sequence[str]) -> list[float]:
        """Return the document's impact of each term, 0.0 where it is absent."""
        if len(terms) > MOST_TERMS:
            return super().impacts(ordinal, terms)
        known = self._spans
        spans = [known.get(term) or self._span(term) for term in terms]
        found: list[float] | None = self._engine.impacts(spans, ordinal)
        if found is None:
            self._check([ordinal])
            found = self._engine.impacts(spans, ordinal)
        assert found is not None
        return found

    def _check(self, unread: Sequence[int]) -> None:
        by_segment: dict[int, list[int]] = {}
        for ordinal in unread:
            by_segment.setdefault(ordinal >> SHIFT, []).append(ordinal & MASK)
        for place, numbers in by_segment.items():
            self.segments[place].check_forwards(numbers)

    def lexical(
        self, weights: Weights, limit: int, allowed: Container[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return up to ``limit`` (ordinal, exact score), best first, among the candidates."""
        if allowed is not None or not weights:
            return super().lexical(weights, limit, allowed)
        asked = self._asked(first_terms(weights))
        while True:
            found, unread = self._engine.lexical(*asked, limit, CANDIDATES)
            if not unread:
                return found  # type: ignore[no-any-return]
            self._check(unread)

    def exact(self, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        """Return the exact scores of the documents named."""
        return self._of_each(self._engine.exact, weights, ordinals)

    def held(self, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        """Return what the terms weigh, added up, that each of the documents named holds."""
        return self._of_each(self._engine.held, weights, ordinals)

    def _of_each(self, ask: Any, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        asked = self._asked(first_terms(weights))
        listed = list(ordinals)
        while True:
            found, unread = ask(*asked, listed)
            if not unread:
                return found  # type: ignore[no-any-return]
            self._check(unread)

    def _check_vectors(self) -> None:
        for segment in self.segments:
            segment.whole("vectors")
        self._sound = True

    def semantic(
        self, query: bytes, limit: int, allowed: Container[int] | None = None
    ) -> list[tuple[int, int]]:
        """Return up to ``limit`` (ordinal, dot product) above zero, best first."""
        if allowed is not None:
            return super().semantic(query, limit, allowed)
        if not self._sound:
            self._check_vectors()
        return self._engine.nearest(query, limit)  # type: ignore[no-any-return]

    def dots(self, query: bytes, ordinals: Sequence[int]) -> list[int]:
        """Return the dot products of the documents named."""
        if not self._sound:  # a few vectors need not cost a look at all
            return super().dots(query, ordinals)
        return self._engine.dots(query, list(ordinals))  # type: ignore[no-any-return]
