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
from skillyard.ranking.hybrid.evidence import WHOLE, Beside, Feedback, Found, span
from skillyard.ranking.hybrid.points import first, totals
from skillyard.ranking.hybrid.question import Question

__all__ = ["LONG", "follow", "is_long"]

LONG = 50
"""Terms of a request from which it is long: with fewer, nearly all are about the work."""
NEAR = 50
"""Of the cosines of the best skills by words, the place whose cosine counts as nothing here."""


def is_long(asked: Question) -> bool:
    """True where a request has many terms, and a direction."""
    return len(asked.terms) > LONG and bool(asked.vector)


def follow(
    scores: Mapping[int, float],
    beside: Mapping[int, Beside],
    words: tuple[float, float],
    asked: Question,
    searcher: Searcher,
    fusion: Fusion,
) -> Feedback | None:
    """Return the moved direction of a long request; None where its best skills have none.

    ``scores`` are the scores of words of those that come into question, ``beside`` what else
    speaks for them, and ``words`` the (best, least counted) score. Which are best is told by all
    of that, and by the request's own direction.
    """
    ordinals = list(scores)
    cosines = [dot / WHOLE for dot in searcher.dots(asked.vector, ordinals)]
    most, least = span(sorted(cosines, reverse=True), NEAR)
    if most <= 0.0:
        return None
    near = dict(zip(ordinals, cosines, strict=True))
    found = Found(scores, near, beside, words, (most, max(least, 0.0)))
    best = first(totals(found, fusion, deaf=False), searcher, fusion.followed)
    counted = [
        (ordinal, total, vector)
        for ordinal, total in best
        if total > 0.0 and any(vector := searcher.vector(ordinal))
    ]
    own, theirs = (1.0 - fusion.feedback) / UNIT, fusion.feedback
    others = [(vector, total) for _, total, vector in counted]
    made = shift_vector(asked.vector, own, others, theirs)
    if made is None:
        return None
    direction, length, whole = made
    shares = tuple((o, theirs / length * UNIT * total / whole) for o, total, _ in counted)
    return Feedback(direction, own * UNIT / whole, shares)
