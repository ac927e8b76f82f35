"""An index of plain dictionaries: the oracle of every other searcher."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from heapq import nsmallest
from operator import mul

from skillyard.engine.index.segment_reader import EXCLUDED, IndexedDocument, impact_byte
from skillyard.engine.index.segment_searcher import (
    CANDIDATES,
    Weights,
    exact_score,
    heaviest_terms,
    integer_weights,
    matched_weight,
    tie_key,
)

__all__ = ["MemorySearcher"]


class MemorySearcher:
    """The searcher over documents in memory. Ordinals are positions. Immutable."""

    __slots__ = (
        *("_documents", "_impacts", "_live", "_places", "_postings", "_ties", "_vectors"),
        *("dimensions", "size"),
    )

    def __init__(self, documents: Iterable[IndexedDocument], dimensions: int = 0) -> None:
        """Take the documents. A later document replaces an earlier one with the same key."""
        by_key = {document.key: document for document in documents}
        self._documents = list(by_key.values())
        self._places = {key: place for place, key in enumerate(by_key)}
        self._live = [not document.flags & EXCLUDED for document in self._documents]
        self.size = sum(self._live)
        self.dimensions = dimensions
        self._impacts = [
            dict(zip(document.terms, document.impacts, strict=True)) for document in self._documents
        ]
        self._vectors: list[memoryview | None] | None = None
        self._ties: list[tuple[int, str]] | None = None
        self._postings: dict[str, list[tuple[int, int]]] | None = None

    def _postings_by_term(self) -> dict[str, list[tuple[int, int]]]:
        """Return the postings: (ordinal, impact byte) by term, built on first use."""
        if self._postings is None:
            postings: dict[str, list[tuple[int, int]]] = {}
            for place, impacts in enumerate(self._impacts):
                if self._live[place]:
                    for term, impact in impacts.items():
                        postings.setdefault(term, []).append((place, impact_byte(impact)))
            self._postings = postings
        return self._postings

    def _tie(self, ordinal: int) -> tuple[int, str]:
        return tie_key(self._documents[ordinal].key)

    def frequency(self, term: str) -> int:
        """Return the number of live documents that contain the term."""
        if self._postings is not None:
            return len(self._postings.get(term, ()))
        return sum(
            term in impacts for impacts, live in zip(self._impacts, self._live, strict=True) if live
        )

    def existing_terms(self, terms: Sequence[str]) -> list[str]:
        """Return the terms that occur in live documents, in their order."""
        return [term for term in terms if self.frequency(term)]

    def lexical(
        self, weights: Weights, limit: int, allowed: Container[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return up to ``limit`` (ordinal, exact BM25F score) of the candidates, best first."""
        weights = heaviest_terms(weights)
        sums: dict[int, int] = {}
        postings = self._postings_by_term()
        for (term, _), whole in zip(weights, integer_weights(weights), strict=True):
            for ordinal, impact in postings.get(term, ()):
                sums[ordinal] = sums.get(ordinal, 0) + whole * impact
        if allowed is not None:
            sums = {ordinal: value for ordinal, value in sums.items() if ordinal in allowed}
        chosen = self._best(sums.items(), max(limit, CANDIDATES))
        exact = zip(chosen, self.exact_scores(weights, chosen), strict=True)
        scores = dict(exact)
        return [(ordinal, scores[ordinal]) for ordinal in self._best(scores.items(), limit)]

    def _best(self, scores: Iterable[tuple[int, float]], limit: int) -> list[int]:
        """Return the ordinals with the highest scores; ties are broken by :func:`tie_key`."""
        pairs = list(scores)
        if len(pairs) > limit:
            floor = nsmallest(limit, (-score for _, score in pairs))[-1]
            pairs = [pair for pair in pairs if -pair[1] <= floor]
        pairs.sort(key=lambda pair: (-pair[1], self._tie(pair[0])))
        return [ordinal for ordinal, _ in pairs[:limit]]

    def exact_scores(self, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        """Return the exact BM25F scores of the given documents."""
        weights = heaviest_terms(weights)
        terms = [term for term, _ in weights]
        return [exact_score(weights, self.impacts(ordinal, terms)) for ordinal in ordinals]

    def matched_weights(self, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        """Return, for each given document, the summed weight of the terms that it contains."""
        weights = heaviest_terms(weights)
        terms = [term for term, _ in weights]
        return [matched_weight(weights, self.impacts(ordinal, terms)) for ordinal in ordinals]

    def semantic(
        self, query: bytes, limit: int, allowed: Container[int] | None = None
    ) -> list[tuple[int, int]]:
        """Return up to ``limit`` (ordinal, dot product) above zero, best first."""
        live = [
            place
            for place, live in enumerate(self._live)
            if live and (allowed is None or place in allowed)
        ]
        dots = zip(live, self.dots(query, live), strict=True)
        positive = {place: dot for place, dot in dots if dot > 0}
        return [(place, positive[place]) for place in self._best(positive.items(), limit)]

    def dots(self, query: bytes, ordinals: Sequence[int]) -> list[int]:
        """Return the dot products of the given documents with the query vector."""
        if self._vectors is None:
            self._vectors = [
                memoryview(document.vector).cast("b") if document.vector else None
                for document in self._documents
            ]
        components = memoryview(query).cast("b")
        vectors = [self._vectors[ordinal] for ordinal in ordinals]
        return [
            sum(map(mul, components, vector)) if vector is not None else 0 for vector in vectors
        ]

    def vector(self, ordinal: int) -> bytes:
        """Return the document's vector, in signed bytes; nothing where it has none."""
        return self._documents[ordinal].vector

    def impacts(self, ordinal: int, terms: Sequence[str]) -> list[float]:
        """Return the document's impact of each term; 0.0 when it is absent."""
        impact_by_term = self._impacts[ordinal]
        return [impact_by_term.get(term, 0.0) for term in terms]

    def key(self, ordinal: int) -> str:
        """Return the document's key."""
        return self._documents[ordinal].key

    def record(self, ordinal: int) -> bytes:
        """Return the document's record."""
        return self._documents[ordinal].record

    def flags(self, ordinal: int) -> int:
        """Return the document's flags."""
        return self._documents[ordinal].flags

    def ordinal(self, key: str) -> int | None:
        """Return the ordinal of the document of that key, or None."""
        return self._places.get(key)

    def ordinals(self) -> Iterator[int]:
        """Yield the ordinals of all documents."""
        return iter(range(len(self._documents)))
