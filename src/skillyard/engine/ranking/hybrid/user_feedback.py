"""The user's feedback as evidence: it counts for similar requests, within fixed limits.

One judgement is weak evidence: it may be a slip, and the request it was about is not this one. So
it moves a skill by a fixed number of points at most, in proportion to the similarity of the
requests, and the log-odds by what a judgement is worth that is right four times in five. More
judgements never move a skill further than one about the very same request.
``python -m benchmarks feedback`` prints the figures.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from skillyard.engine.index.token_table import bundled_table
from skillyard.engine.ranking.hybrid.retrieval import ordinals_by_name
from skillyard.engine.ranking.query import SkillFeedback

if TYPE_CHECKING:
    from skillyard.engine.index.library import Library
    from skillyard.engine.ranking.query import Query
    from skillyard.engine.ranking.request_similarity import RequestVector

START, FULL = 0.30, 0.60
"""Cosines of two requests at which feedback starts to count and counts in full. Nearly half of the
pairs of requests by other hands for one skill are above 0.30; of the pairs of development requests
for different skills one in seven hundred is above 0.35. Chosen on hands 7 and 8: 0.40 to
0.70 gains half as much, 0.20 to 0.50 more, but it reaches further than what is like the request."""
CLIENT_SHARE = 0.05
"""The limit for the judgements of a server's clients together: enough to order nearly equal skills.
A client that judges a development request itself removes one of 65 selected skills. What clients
say is for the owner to read, and to repeat where it is right."""


def relevance(similarity: float) -> float:
    """Return how much feedback counts for a request, 0..1, by the similarity of the two."""
    return min(1.0, max(0.0, (similarity - START) / (FULL - START)))


def feedback_by_ordinal(query: Query, library: Library) -> dict[int, float]:
    """Return the feedback on each skill for requests like the query, -1..1, without zeros."""
    own: dict[int, float] = {}
    clients: dict[int, float] = {}
    for slug, of_skill in _by_slug(query.feedback).items():
        ordinals = _ordinals(slug, library)
        if not ordinals:
            continue
        request = _vector(query.text)
        for each in of_skill:
            counts = relevance(_similarity(request, _vector(each.request)))
            if counts:
                sums = clients if each.from_client else own
                for ordinal in ordinals:
                    sums[ordinal] = sums.get(ordinal, 0.0) + (counts if each.right else -counts)
    values = {
        ordinal: _clamp(
            _clamp(own.get(ordinal, 0.0), 1.0) + _clamp(clients.get(ordinal, 0.0), CLIENT_SHARE),
            1.0,
        )
        for ordinal in sorted({*own, *clients})
    }
    return {ordinal: value for ordinal, value in values.items() if value}


def _clamp(value: float, limit: float) -> float:
    return min(limit, max(-limit, value))


def _by_slug(feedback: tuple[SkillFeedback, ...]) -> dict[str, list[SkillFeedback]]:
    by_slug: dict[str, list[SkillFeedback]] = {}
    for each in feedback:
        by_slug.setdefault(each.slug, []).append(each)
    return by_slug


def _ordinals(slug: str, library: Library) -> list[int]:
    """Return the ordinals of the skills with a slug."""
    first = slug.casefold().split(None, 1)[:1]
    return [o for o in ordinals_by_name(first, library.searcher) if library.skill(o).slug == slug]


def _similarity(one: RequestVector, other: RequestVector) -> float:
    from skillyard.engine.ranking.request_similarity import similarity

    return similarity(one, other)


@lru_cache(maxsize=1_024)
def _vector(text: str) -> RequestVector:
    """Return the vector by the bundled table, which outlives every index."""
    from skillyard.engine.ranking.request_similarity import request_vector

    return request_vector(text, bundled_table())
