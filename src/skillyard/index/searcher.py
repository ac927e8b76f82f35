"""What every index can be asked, and the definitions that make all backends answer alike.

An answer depends on the live documents only: not on the order in which they came, the segment
they lie in, or whether C or Python looked. So the first pass adds whole numbers, ties are broken
by a digest of the document's key, and the second pass adds doubles in the order of the query.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Protocol

from skillyard.digest import sha256

__all__ = [
    "CANDIDATES",
    "MAX_TERMS",
    "Searcher",
    "Weights",
    "contenders",
    "exact_score",
    "heaviest_terms",
    "impact_byte",
    "integer_weights",
    "matched_weight",
    "rounding_slack",
    "tie_key",
]

Weights = Sequence[tuple[str, float]]
"""The terms of a query, each once, with what one full impact of it is worth."""

CANDIDATES = 200
"""Documents of the first pass that are scored exactly, or as many as were asked for if more."""
MAX_TERMS = 256
"""Terms of one query: the heaviest ones."""
MAX_INTEGER_WEIGHT = 1_023
"""The heaviest term's whole weight: 255 · 1,023 · 256 fits 32 bits."""


def heaviest_terms(weights: Weights) -> Weights:
    """Return the terms that count, in their order: all of them, or the heaviest."""
    if len(weights) <= MAX_TERMS:
        return weights
    heaviest = {term for term, _ in sorted(weights, key=lambda w: (-w[1], w[0]))[:MAX_TERMS]}
    return [pair for pair in weights if pair[0] in heaviest]


def integer_weights(weights: Weights) -> list[int]:
    """Return the first pass's weights, 1..1,023."""
    top = max((weight for _, weight in weights), default=1.0)
    return [max(1, round(MAX_INTEGER_WEIGHT * weight / top)) for _, weight in weights]


def contenders(sums: list[tuple[int, int]], weights: Weights, limit: int) -> list[tuple[int, int]]:
    """Return the (sum, document) that may be among the ``limit`` best by exact score."""
    if len(sums) <= limit or limit <= 0:
        return sums
    from heapq import nlargest  # not where the kernel answers

    least = nlargest(limit, (total for total, _ in sums))[-1] - rounding_slack(weights)
    return [pair for pair in sums if pair[0] >= least]


def rounding_slack(weights: Weights) -> int:
    """Return how far a sum may lie behind another one whose exact score it reaches.

    A sum of the first pass is the exact score times ``WHOLE · 255 / top`` up to what rounding
    does: at most one in 255 of each weight, and one in ``MAX_INTEGER_WEIGHT`` of the heaviest for each term.
    Whoever lies further behind than twice that cannot catch up.
    """
    top = max((weight for _, weight in weights), default=1.0)
    slack = 0.0
    for _, weight in weights:
        slack += MAX_INTEGER_WEIGHT * weight / top + 255.0
    return int(2.01 * slack) + 1


def impact_byte(impact: float) -> int:
    """Return an impact as the first pass sees it, 1..255."""
    return max(1, round(255 * impact))


def tie_key(key: str) -> tuple[int, str]:
    """Return what orders equal scores, ascending: blind to names and paths, the same for ever."""
    data = key.encode("utf-8", "surrogatepass")
    return int.from_bytes(sha256(data)[:8], "big"), key


def exact_score(weights: Weights, impacts: Sequence[float]) -> float:
    """Return Σ weight · impact, added one by one (``sum`` compensates on some Pythons)."""
    total = 0.0
    for (_, weight), impact in zip(weights, impacts, strict=True):
        if impact:
            total += weight * impact
    return total


def matched_weight(weights: Weights, impacts: Sequence[float]) -> float:
    """Return Σ weight over the terms that have an impact, added one by one."""
    total = 0.0
    for (_, weight), impact in zip(weights, impacts, strict=True):
        if impact:
            total += weight
    return total


class Searcher(Protocol):
    """A set of documents that can be searched. Documents are named by ordinals, 0 upwards."""

    @property
    def size(self) -> int:
        """Live documents: neither deleted nor excluded."""

    @property
    def dimensions(self) -> int:
        """Bytes of a vector."""

    def frequency(self, term: str) -> int:
        """Return how many live documents hold the term."""

    def existing_terms(self, terms: Sequence[str]) -> list[str]:
        """Return those of the terms that live documents hold, in their order."""

    def lexical(
        self, weights: Weights, limit: int, allowed: Container[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return up to ``limit`` (ordinal, exact score), best first, among the candidates."""

    def exact_scores(self, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        """Return the exact scores of the documents named."""

    def matched_weights(self, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        """Return what the terms weigh, added up, that each of the documents named holds."""

    def semantic(
        self, query: bytes, limit: int, allowed: Container[int] | None = None
    ) -> list[tuple[int, int]]:
        """Return up to ``limit`` (ordinal, dot product) above zero, best first."""

    def dots(self, query: bytes, ordinals: Sequence[int]) -> list[int]:
        """Return the dot products of the documents named."""

    def vector(self, ordinal: int) -> bytes:
        """Return the document's vector, in signed bytes; zeros or nothing where it has none."""

    def impacts(self, ordinal: int, terms: Sequence[str]) -> list[float]:
        """Return the document's impact of each term, 0.0 where it is absent."""

    def key(self, ordinal: int) -> str:
        """Return the document's key."""

    def record(self, ordinal: int) -> bytes:
        """Return the document's record."""

    def flags(self, ordinal: int) -> int:
        """Return the document's flags."""

    def ordinal(self, key: str) -> int | None:
        """Return the ordinal of the document of that key, or None."""

    def ordinals(self) -> Iterator[int]:
        """Yield the ordinals of all documents that are not deleted."""
