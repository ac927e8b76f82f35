"""The definitions of scores that the kernel, the Python code and the oracle of the tests share.

Results depend on the live documents only: not on the order of insertion, the distribution over
segments, or the implementation (C or Python). The first pass therefore sums integers, ties are
broken by a digest of the document key, and the second pass sums doubles in query order.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillyard.base.io.sha256 import sha256

Weights = Sequence[tuple[str, float]]
"""The distinct terms of a query with their weights: the score of an impact of 1."""

EXCLUDED = 1
"""Flag of documents that are stored but never found or counted (hidden and shadowed skills)."""

CANDIDATES = 200
"""Documents of the first pass that are scored exactly; at least the requested limit."""
MAX_TERMS = 256
"""Terms of one query; the heaviest ones are used."""
MAX_INTEGER_WEIGHT = 1_023
"""The integer weight of the heaviest term: 255 · 1,023 · 256 fits 32 bits."""


def heaviest_terms(weights: Weights) -> Weights:
    """Return up to :data:`MAX_TERMS` terms, the heaviest ones, in their order."""
    if len(weights) <= MAX_TERMS:
        return weights
    heaviest = {term for term, _ in sorted(weights, key=lambda w: (-w[1], w[0]))[:MAX_TERMS]}
    return [pair for pair in weights if pair[0] in heaviest]


def integer_weights(weights: Weights) -> list[int]:
    """Return the integer weights of the first pass, 1..1,023."""
    top = max((weight for _, weight in weights), default=1.0)
    return [max(1, round(MAX_INTEGER_WEIGHT * weight / top)) for _, weight in weights]


def impact_byte(impact: float) -> int:
    """Return the quantised impact of the first pass, 1..255."""
    return max(1, round(255 * impact))


def tie_key(key: str) -> tuple[int, str]:
    """Return the sort key for equal scores: a digest of the document key, then the key."""
    data = key.encode("utf-8", "surrogatepass")
    return int.from_bytes(sha256(data)[:8], "big"), key


def exact_score(weights: Weights, impacts: Sequence[float]) -> float:
    """Return Σ weight · impact, added in order (``sum`` compensates rounding on Python 3.12+)."""
    total = 0.0
    for (_, weight), impact in zip(weights, impacts, strict=True):
        if impact:
            total += weight * impact
    return total


def matched_weight(weights: Weights, impacts: Sequence[float]) -> float:
    """Return Σ weight over the terms with an impact, added in order."""
    total = 0.0
    for (_, weight), impact in zip(weights, impacts, strict=True):
        if impact:
            total += weight
    return total
