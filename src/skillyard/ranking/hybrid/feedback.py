"""A second look at a long request: its direction, moved towards where its best skills lie.

A task prompt tells of bakeries, paths and deadlines beside the work, and all of it pulls at the
direction of the whole. What the best five skills have in common is the work. So the candidates'
meaning is measured again, with the sum of the request's unit vector and theirs (pseudo-relevance
feedback as by Rocchio, "Relevance feedback in information retrieval", 1971, over directions
instead of terms). No skill comes in that was no candidate before.
"""

from __future__ import annotations

from skillyard.index.searcher import Searcher
from skillyard.index.table import UNIT, moved
from skillyard.ranking.hybrid.constants import Fusion
from skillyard.ranking.hybrid.evidence import WHOLE, Feedback, Found, span
from skillyard.ranking.hybrid.points import first, totals
from skillyard.ranking.hybrid.question import Question

__all__ = ["LONG", "look_again"]

LONG = 50
"""Terms of a request from which it is long: with fewer, nearly all are about the work."""


def look_again(found: Found, asked: Question, searcher: Searcher, fusion: Fusion) -> Found:
    """Return the same candidates, their meaning measured with the best ones' directions too.

    The same value where the request is not long, or has no direction.
    """
    if len(asked.terms) <= LONG or not asked.vector or found.meaning[0] <= 0.0:
        return found
    feedback = _feedback(found, asked, searcher, fusion)
    if feedback is None:
        return found
    ordinals = list(found.by_meaning)
    dots = searcher.dots(feedback.direction, ordinals)
    cosines = [dot / WHOLE for dot in dots]
    best, least = span(sorted(cosines, reverse=True), fusion.depth)
    return found._replace(
        by_meaning=dict(zip(ordinals, cosines, strict=True)),
        meaning=(max(best, 0.0), max(least, 0.0)),
        feedback=feedback,
    )


def _feedback(found: Found, asked: Question, searcher: Searcher, fusion: Fusion) -> Feedback | None:
    """Return the moved direction; None where the best skills have none."""
    best = first(totals(found, fusion, deaf=False), searcher, fusion.followed)
    counted = [
        (ordinal, total, vector)
        for ordinal, total in best
        if total > 0.0 and any(vector := searcher.vector(ordinal))
    ]
    own, theirs = (1.0 - fusion.feedback) / UNIT, fusion.feedback
    others = [(vector, total) for _, total, vector in counted]
    found_there = moved(asked.vector, own, others, theirs)
    if found_there is None:
        return None
    direction, length, whole = found_there
    shares = tuple((o, theirs / length * UNIT * total / whole) for o, total, _ in counted)
    return Feedback(direction, own * UNIT / whole, shares)
