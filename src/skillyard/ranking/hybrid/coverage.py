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
from skillyard.ranking.hybrid.evidence import CandidateSet, Coverage
from skillyard.ranking.hybrid.fusion import top_by_points
from skillyard.ranking.hybrid.query_analysis import AnalysedQuery
from skillyard.sums import stable_sum

__all__ = ["score_coverage"]

FULL_LOG_LENGTH = log(MAX_BODY_TERMS / SHORT_BODY_TERMS) / FULL_IMPACT
"""The logarithm of a length that a full impact of its mark stands for."""


def score_coverage(
    totals: Mapping[int, float],
    candidates: CandidateSet,
    analysed: AnalysedQuery,
    searcher: Searcher,
    fusion: Fusion,
) -> dict[int, Coverage]:
    """Return how much of the request each of the best skills covers, by ordinal.

    ``totals`` are the points so far. Nothing where the request is not long, or has no direction, or
    is not in English (only English ones were learned from), or where it calls a skill by its name:
    that one is wanted, whatever else is said. Nobody loses points: the least of the best gets none.
    """
    if candidates.feedback is None or not analysed.is_english:
        return {}
    if any(extra.called for extra in candidates.extra.values()):
        return {}
    best = top_by_points(totals, searcher, fusion.covered)
    ordinals = [ordinal for ordinal, points in best if points > 0.0]
    matched = searcher.matched_weights(analysed.weights, ordinals)
    lengths = searcher.exact_scores([(LENGTH, FULL_LOG_LENGTH)], ordinals)
    total = stable_sum([term.weight for term in analysed.terms])
    shares = [weight / total for weight in matched]
    model_scores = [
        fusion.coverage * share - fusion.length * length
        for share, length in zip(shares, lengths, strict=True)
    ]
    least = min(model_scores, default=0.0)
    known = zip(ordinals, model_scores, shares, lengths, strict=True)
    return {ordinal: Coverage(points - least, *seen) for ordinal, points, *seen in known}
