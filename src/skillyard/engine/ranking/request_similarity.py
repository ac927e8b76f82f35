"""How alike two requests are, by the terms and the token vectors that rank skills.

The weights are those of public skills, without a library: two requests are equally alike wherever
they are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt
from operator import mul
from typing import NamedTuple

from skillyard.base.sums import stable_sum
from skillyard.engine.analysis import STANDARD
from skillyard.engine.index.token_table import UNIT, TokenTable
from skillyard.engine.ranking.hybrid.query_analysis import BACKGROUND, small_talk_terms

MAX_CHARACTERS = 2_000
"""Characters of a request that are compared: the first ones, which state the task."""


class RequestVector(NamedTuple):
    """A request, to be compared with others."""

    terms: Mapping[str, float]
    """Weight by term, heaviest first; the weights have the length 1. Small talk has no weight."""
    components: tuple[int, ...]
    """The token vector, of the length ``UNIT``; empty when no term is in the token table."""


def request_vector(text: str, table: TokenTable) -> RequestVector:
    """Return the terms and the vector of a request."""
    talk = small_talk_terms()
    counts = {
        term: number
        for term, number in STANDARD.counts(text[:MAX_CHARACTERS]).items()
        if term not in talk
    }
    weights = {term: _weight(term, number, table) for term, number in counts.items()}
    length = sqrt(stable_sum([weight * weight for weight in weights.values()])) or 1.0
    order = sorted(weights, key=lambda term: (-weights[term], term))
    terms = {term: weights[term] / length for term in order if weights[term] > 0.0}
    vector = table.vector([(1.0, tuple(counts.items()))], query=True) if counts else b""
    return RequestVector(terms, tuple(memoryview(vector).cast("b")) if vector else ())


def _weight(term: str, number: float, table: TokenTable) -> float:
    """Return (1 + log(frequency)) · rarity · emphasis, as ``hybrid`` weights terms."""
    share, emphasis = table.term_statistics(term)
    frequency = BACKGROUND * share
    rarity = log(1.0 + (BACKGROUND - frequency + 0.5) / (frequency + 0.5))
    return (1.0 + log(number)) * rarity * emphasis


def similarity(one: RequestVector, other: RequestVector) -> float:
    """Return the cosine of two requests, 0..1: 1 for equal terms, 0 without a common meaning.

    It is that of the token vectors, or of the weighted terms when one request has no vector.
    """
    if one.terms == other.terms:
        return 1.0 if one.terms else 0.0
    if one.components and other.components:
        dot: float = sum(map(mul, one.components, other.components)) / (UNIT * UNIT)
    else:
        fewer, more = sorted((one.terms, other.terms), key=len)
        dot = stable_sum([weight * more[term] for term, weight in fewer.items() if term in more])
    return min(1.0, max(0.0, dot))
