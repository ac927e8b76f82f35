"""Pseudo-relevance feedback: the vector of a long request is moved towards its best matches.

A task prompt also mentions paths, people and deadlines, which distort its vector. The five best
lexical matches have the actual task in common. The semantic search therefore uses the weighted sum
of the request's unit vector and theirs (Rocchio, "Relevance feedback in information retrieval",
1971, applied to vectors).
"""

from __future__ import annotations

from collections.abc import Mapping

from skillyard.engine.index.segment_searcher import SegmentSearcher
from skillyard.engine.index.token_table import UNIT, shift_vector
from skillyard.engine.ranking.hybrid.constants import Fusion
from skillyard.engine.ranking.hybrid.evidence import (
    UNIT_DOT,
    CandidateSet,
    ExtraEvidence,
    Feedback,
    score_range,
)
from skillyard.engine.ranking.hybrid.fusion import fuse_totals, top_by_points
from skillyard.engine.ranking.hybrid.query_analysis import AnalysedQuery

COSINE_DEPTH = 50
"""The rank whose cosine is rescaled to 0."""


def apply_feedback(
    scores: Mapping[int, float],
    extra: Mapping[int, ExtraEvidence],
    words: tuple[float, float],
    analysed: AnalysedQuery,
    searcher: SegmentSearcher,
    fusion: Fusion,
) -> Feedback | None:
    """Return the moved vector of a long request; None when its best matches have no vectors.

    ``scores`` are the BM25F scores of the candidates, ``extra`` their other evidence, and ``words``
    the score range. The best matches are chosen by all of these and by the request's own vector.
    """
    ordinals = list(scores)
    cosines = [dot / UNIT_DOT for dot in searcher.dots(analysed.vector, ordinals)]
    most, least = score_range(sorted(cosines, reverse=True), COSINE_DEPTH)
    if most <= 0.0:
        return None
    by_ordinal = dict(zip(ordinals, cosines, strict=True))
    candidates = CandidateSet(scores, by_ordinal, extra, words, (most, max(least, 0.0)))
    totals = fuse_totals(candidates, fusion, has_no_vector=False)
    neighbours = [
        (ordinal, total, vector)
        for ordinal, total in top_by_points(totals, searcher, fusion.followed)
        if total > 0.0 and any(vector := searcher.vector(ordinal))
    ]
    own_weight, neighbour_weight = (1.0 - fusion.feedback) / UNIT, fusion.feedback
    weighted = [(vector, total) for _, total, vector in neighbours]
    shifted = shift_vector(analysed.vector, own_weight, weighted, neighbour_weight)
    if shifted is None:
        return None
    direction, sum_norm, norm = shifted
    shares = tuple(
        (ordinal, neighbour_weight / sum_norm * UNIT * total / norm)
        for ordinal, total, _ in neighbours
    )
    return Feedback(direction, own_weight * UNIT / norm, shares)
