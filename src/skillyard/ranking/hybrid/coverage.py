"""A third look at a long request: how much of it each of its best skills covers.

A sum of impacts is led by the few words that a skill says often. Of a task prompt with a hundred
terms a skill that fits holds many, each now and then; and so does any long text, whence its length
counts against it. A linear model of two numbers, fitted by ``training/coverage.py``. Of shorter
requests as many lost by it as gained, so they are left alone (``training/README.md``).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from skillyard.index.facet_terms import FULL_IMPACT, LENGTH, MAX_BODY_TERMS, SHORT_BODY_TERMS
from skillyard.index.searcher import Searcher
from skillyard.ranking.hybrid.constants import Fusion
from skillyard.ranking.hybrid.evidence import Cover, Found
from skillyard.ranking.hybrid.points import first
from skillyard.ranking.hybrid.question import Question
from skillyard.summing import added

__all__ = ["cover"]

WHOLE = log(MAX_BODY_TERMS / SHORT_BODY_TERMS) / FULL_IMPACT
"""The logarithm of a length that a full impact of its mark stands for."""


def cover(
    made: Mapping[int, float], found: Found, asked: Question, searcher: Searcher, fusion: Fusion
) -> dict[int, Cover]:
    """Return how much of the request each of the best skills covers, by ordinal.

    ``made`` are the points so far. Nothing where the request is not long, or has no direction, or
    is not in English (only English ones were learned from), or where it calls a skill by its name:
    that one is wanted, whatever else is said. Nobody loses points: the least of the best gets none.
    """
    if found.feedback is None or not asked.english:
        return {}
    if any(beside.called for beside in found.beside.values()):
        return {}
    best = first(made, searcher, fusion.covered)
    ordinals = [ordinal for ordinal, points in best if points > 0.0]
    held = searcher.matched_weights(asked.weights, ordinals)
    lengths = searcher.exact_scores([(LENGTH, WHOLE)], ordinals)
    total = added([term.weight for term in asked.terms])
    shares = [weight / total for weight in held]
    said = [
        fusion.coverage * share - fusion.length * length
        for share, length in zip(shares, lengths, strict=True)
    ]
    least = min(said, default=0.0)
    known = zip(ordinals, said, shares, lengths, strict=True)
    return {ordinal: Cover(points - least, *seen) for ordinal, points, *seen in known}
