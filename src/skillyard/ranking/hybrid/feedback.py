"""A long request's direction, moved towards where its best skills lie before anything is near it.

A task prompt tells of bakeries, paths and deadlines beside the work, and all of it pulls at the
direction of the whole. What the best five skills by their words have in common is the work. So
what is near in meaning is looked for with the sum of the request's unit vector and theirs
(pseudo-relevance feedback as by Rocchio, "Relevance feedback in information retrieval", 1971, over
directions instead of terms).
"""

from __future__ import annotations

from collections.abc import Mapping

from skillyard.index.searcher import Searcher
from skillyard.index.token_table import UNIT, shift_vector
from skillyard.ranking.hybrid.constants import Fusion
from skillyard.ranking.hybrid.evidence import (
    UNIT_DOT,
    CandidateSet,
    ExtraEvidence,
    Feedback,
    score_range,
)
from skillyard.ranking.hybrid.fusion import fuse_totals, top_by_points
from skillyard.ranking.hybrid.query_analysis import AnalysedQuery

__all__ = ["LONG_QUERY_TERMS", "apply_feedback", "is_long_query"]

LONG_QUERY_TERMS = 50
"""Terms of a request from which it is long: with fewer, nearly all are about the work."""
COSINE_DEPTH = 50
"""Of the cosines of the best skills by words, the place whose cosine counts as nothing here."""


def is_long_query(analysed: AnalysedQuery) -> bool:
    """True where a request has many terms, and a direction."""
    return len(analysed.terms) > LONG_QUERY_TERMS and bool(analysed.vector)


def apply_feedback(
    scores: Mapping[int, float],
    extra: Mapping[int, ExtraEvidence],
    words: tuple[float, float],
    analysed: AnalysedQuery,
    searcher: Searcher,
    fusion: Fusion,
) -> Feedback | None:
    """Return the moved direction of a long request; None where its best skills have none.

    ``scores`` are the scores of words of those that come into question, ``extra`` what else
    speaks for them, and ``words`` the (best, least counted) score. Which are best is told by all
    of that, and by the request's own direction.
    """
    ordinals = list(scores)
    cosines = [dot / UNIT_DOT for dot in searcher.dots(analysed.vector, ordinals)]
    most, least = score_range(sorted(cosines, reverse=True), COSINE_DEPTH)
    if most <= 0.0:
        return None
    near = dict(zip(ordinals, cosines, strict=True))
    candidates = CandidateSet(scores, near, extra, words, (most, max(least, 0.0)))
    best = top_by_points(
        fuse_totals(candidates, fusion, has_no_vector=False), searcher, fusion.followed
    )
    counted = [
        (ordinal, total, vector)
        for ordinal, total in best
        if total > 0.0 and any(vector := searcher.vector(ordinal))
    ]
    own, theirs = (1.0 - fusion.feedback) / UNIT, fusion.feedback
    others = [(vector, total) for _, total, vector in counted]
    shifted = shift_vector(analysed.vector, own, others, theirs)
    if shifted is None:
        return None
    direction, length, whole = shifted
    shares = tuple((o, theirs / length * UNIT * total / whole) for o, total, _ in counted)
    return Feedback(direction, own * UNIT / whole, shares)
