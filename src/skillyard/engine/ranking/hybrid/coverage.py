"""Query coverage: for long requests, the share of the request that each of the best skills matches.

BM25F scores are dominated by a few frequent words. A skill that fits a task prompt of a hundred
terms matches many of them, but so does any long text. A listwise linear model therefore combines
the matched share and the cosine with the body length as a penalty; ``training/coverage.py`` fits
it. Shorter requests have :mod:`.order`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from skillyard.base.sums import stable_sum
from skillyard.engine.index.facet_terms import FULL_IMPACT, LENGTH, MAX_BODY_TERMS, SHORT_BODY_TERMS
from skillyard.engine.index.segment_searcher import SegmentSearcher
from skillyard.engine.ranking.hybrid.constants import Fusion
from skillyard.engine.ranking.hybrid.evidence import CandidateSet, Coverage
from skillyard.engine.ranking.hybrid.fusion import top_by_points
from skillyard.engine.ranking.hybrid.query_analysis import AnalysedQuery

FULL_LOG_LENGTH = log(MAX_BODY_TERMS / SHORT_BODY_TERMS) / FULL_IMPACT
"""log(length / short length) for a LENGTH impact of 1."""


def score_coverage(
    totals: Mapping[int, float],
    candidates: CandidateSet,
    analysed: AnalysedQuery,
    searcher: SegmentSearcher,
    fusion: Fusion,
) -> dict[int, Coverage]:
    """Return the coverage of the best skills by ordinal.

    ``totals`` are the points so far. The result is empty unless the request is long, has a vector,
    is in English (the language of the training data) and calls no skill by name. The points are at
    least 0: they are relative to the lowest of the best skills.
    """
    if candidates.feedback is None or not analysed.is_english:
        return {}
    if any(extra.called for extra in candidates.extra.values()):
        return {}
    best = top_by_points(totals, searcher, fusion.covered)
    ordinals = [ordinal for ordinal, points in best if points > 0.0]
    terms = [(term.text, term.rarity) for term in analysed.terms]
    matched = searcher.matched_weights(terms, ordinals)
    lengths = searcher.exact_scores([(LENGTH, FULL_LOG_LENGTH)], ordinals)
    total = stable_sum([rarity for _, rarity in terms])
    shares = [rarity / total for rarity in matched]
    cosines = [candidates.cosines.get(ordinal, 0.0) for ordinal in ordinals]
    model_scores = [
        fusion.coverage * share + fusion.nearness * cosine - fusion.length * length
        for share, cosine, length in zip(shares, cosines, lengths, strict=True)
    ]
    least = min(model_scores, default=0.0)
    rows = zip(ordinals, model_scores, shares, lengths, cosines, strict=True)
    return {ordinal: Coverage(points - least, *values) for ordinal, points, *values in rows}
