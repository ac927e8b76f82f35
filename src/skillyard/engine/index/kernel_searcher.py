"""The segment searcher that calls the C kernel. It returns the same results as the Python one.

Python verifies checksums on first use. The rest of a query is one call into the kernel.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from struct import Struct
from typing import Any

from skillyard.engine.index.kernel import KERNEL
from skillyard.engine.index.manifest import Manifest
from skillyard.engine.index.searcher import CANDIDATES, MAX_TERMS, Weights, heaviest_terms
from skillyard.engine.index.segment_searcher import MASK, SHIFT, SegmentSearcher

MAX_CACHED_TERMS = 100_000
"""Terms whose positions are cached: a few megabytes."""
_SPAN = Struct("qqq")
_ABSENT_SPAN = _SPAN.pack(-1, 0, 0)


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
        self._kernel_engine: Any = None
        self._spans: dict[str, bytes] = {}
        self._frequencies: dict[str, int] = {}
        self._vectors_checked = False

    @property
    def _engine(self) -> Any:
        if self._kernel_engine is None:
            parts = [segment.for_kernel() for segment in self.segments]
            self._kernel_engine = KERNEL.Engine(parts, self.dimensions)
        return self._kernel_engine

    def frequency(self, term: str) -> int:
        """Return the number of live documents that contain the term."""
        count = self._frequencies.get(term)
        if count is None:
            count = super().frequency(term)
            if len(self._frequencies) < MAX_CACHED_TERMS:
                self._frequencies[term] = count
        return count

    def existing_terms(self, terms: Sequence[str]) -> list[str]:
        """Return the terms that occur in live documents, in their order."""
        numbers = list(map(self._frequencies.get, terms))  # most are cached
        if None in numbers:
            return super().existing_terms(terms)
        return [term for term, number in zip(terms, numbers, strict=True) if number]

    def _span(self, term: str) -> bytes:
        """Return the packed posting range of a term in each segment; the postings are verified."""
        packed = b"".join(
            [
                _SPAN.pack(number, *segment.check_postings(number)) if number >= 0 else _ABSENT_SPAN
                for segment, number in zip(self.segments, self._numbers(term), strict=True)
            ]
        )
        if len(self._spans) < MAX_CACHED_TERMS:
            self._spans[term] = packed
        return packed

    def _span_query(self, weights: Weights) -> tuple[list[bytes], list[float]]:
        cached = self._spans
        spans = [cached.get(term) or self._span(term) for term, _ in weights]
        return spans, [weight for _, weight in weights]

    def impacts(self, ordinal: int, terms: Sequence[str]) -> list[float]:
        """Return the document's impact of each term; 0.0 when it is absent."""
        if len(terms) > MAX_TERMS:
            return super().impacts(ordinal, terms)
        cached = self._spans
        spans = [cached.get(term) or self._span(term) for term in terms]
        impacts: list[float] | None = self._engine.impacts(spans, ordinal)
        if impacts is None:
            self._check_forward_lists([ordinal])
            impacts = self._engine.impacts(spans, ordinal)
        assert impacts is not None
        return impacts

    def _check_forward_lists(self, ordinals: Sequence[int]) -> None:
        by_segment: dict[int, list[int]] = {}
        for ordinal in ordinals:
            by_segment.setdefault(ordinal >> SHIFT, []).append(ordinal & MASK)
        for place, numbers in by_segment.items():
            self.segments[place].check_forwards(numbers)

    def lexical(
        self, weights: Weights, limit: int, allowed: Container[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return up to ``limit`` (ordinal, exact BM25F score) of the candidates, best first."""
        if allowed is not None or not weights:
            return super().lexical(weights, limit, allowed)
        spans = self._span_query(heaviest_terms(weights))
        while True:
            hits, unchecked = self._engine.lexical(*spans, limit, CANDIDATES)
            if not unchecked:
                return hits  # type: ignore[no-any-return]
            self._check_forward_lists(unchecked)

    def exact_scores(self, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        """Return the exact BM25F scores of the given documents."""
        return self._of_each(self._engine.exact_scores, weights, ordinals)

    def matched_weights(self, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        """Return, for each given document, the summed weight of the terms that it contains."""
        return self._of_each(self._engine.matched_weights, weights, ordinals)

    def _of_each(self, score: Any, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        spans = self._span_query(heaviest_terms(weights))
        numbers = list(ordinals)
        while True:
            values, unchecked = score(*spans, numbers)
            if not unchecked:
                return values  # type: ignore[no-any-return]
            self._check_forward_lists(unchecked)

    def _check_vectors(self) -> None:
        for segment in self.segments:
            segment.section("vectors")
        self._vectors_checked = True

    def semantic(
        self, query: bytes, limit: int, allowed: Container[int] | None = None
    ) -> list[tuple[int, int]]:
        """Return up to ``limit`` (ordinal, dot product) above zero, best first."""
        if allowed is not None:
            return super().semantic(query, limit, allowed)
        if not self._vectors_checked:
            self._check_vectors()
        return self._engine.nearest(query, limit)  # type: ignore[no-any-return]

    def dots(self, query: bytes, ordinals: Sequence[int]) -> list[int]:
        """Return the dot products of the given documents with the query vector."""
        if not self._vectors_checked:  # do not verify all vectors for a few of them
            return super().dots(query, ordinals)
        return self._engine.dots(query, list(ordinals))  # type: ignore[no-any-return]
