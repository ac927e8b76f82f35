"""The user's feedback as evidence: it counts for similar requests, within fixed limits.

One judgement is weak evidence: it may be a slip, and the request it was about is not this one. So
it moves a skill by a fixed number of points at most, in proportion to the similarity of the
requests, and the log-odds by what a judgement is worth that is right four times in five. More
judgements never move a skill further than one about the very same request.
``python -m benchmarks feedback`` prints the figures.

Requests are compared by the terms and the token vectors that rank skills, with the weights of
public skills: two requests are equally alike wherever they are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import log, sqrt
from operator import mul
from typing import NamedTuple

from skillyard.base.sums import stable_sum
from skillyard.engine.analysis import STANDARD
from skillyard.engine.index.library import Library
from skillyard.engine.index.token_table import UNIT, bundled_table
from skillyard.engine.ranking.hybrid.query_analysis import BACKGROUND, small_talk_terms
from skillyard.engine.ranking.hybrid.retrieval import ordinals_by_name
from skillyard.engine.ranking.query import Query, SkillFeedback

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
        request = request_vector(query.text)
        for each in of_skill:
            counts = relevance(similarity(request, request_vector(each.request)))
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


MAX_CHARACTERS = 2_000
"""Characters of a request that are compared: the first ones, which state the task."""


class RequestVector(NamedTuple):
    """A request, to be compared with others."""

    terms: Mapping[str, float]
    """Weight by term, heaviest first; the weights have the length 1. Small talk has no weight."""
    components: tuple[int, ...]
    """The token vector, of the length ``UNIT``; empty when no term is in the token table."""


@lru_cache(maxsize=1_024)
def request_vector(text: str) -> RequestVector:
    """Return the terms and the vector of a request, by the bundled table."""
    table = bundled_table()
    talk = small_talk_terms()
    counts = {
        term: number
        for term, number in STANDARD.counts(text[:MAX_CHARACTERS]).items()
        if term not in talk
    }
    weights = {term: _weight(term, number) for term, number in counts.items()}
    length = sqrt(stable_sum([weight * weight for weight in weights.values()])) or 1.0
    order = sorted(weights, key=lambda term: (-weights[term], term))
    terms = {term: weights[term] / length for term in order if weights[term] > 0.0}
    vector = table.vector([(1.0, tuple(counts.items()))], query=True) if counts else b""
    return RequestVector(terms, tuple(memoryview(vector).cast("b")) if vector else ())


def _weight(term: str, number: float) -> float:
    """Return (1 + log(frequency)) · rarity · emphasis, as ``hybrid`` weights terms."""
    share, emphasis = bundled_table().term_statistics(term)
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
