"""Score fusion: from evidence to points, which order the candidates of one request."""

from collections.abc import Mapping
from typing import NamedTuple

from skillyard.engine.index.searcher import tie_key
from skillyard.engine.index.segment_searcher import SegmentSearcher
from skillyard.engine.ranking.hybrid.constants import FEEDBACK_POINTS, Fusion
from skillyard.engine.ranking.hybrid.evidence import CandidateSet, Evidence


class Points(NamedTuple):
    """The points of each kind of evidence. Skills are ordered by their sum."""

    words: float
    meaning: float
    called: float
    phrase: float
    files: float
    prior: float
    avoid: float
    feedback: float = 0.0
    embedder: float = 0.0
    coverage: float = 0.0
    rerank: float = 0.0
    order: float = 0.0

    @property
    def total(self) -> float:
        """The sum, added in the order of the fields."""
        total = 0.0
        for value in self:
            total += value
        return total


def rescale(score: float, span: tuple[float, float]) -> float:
    """Return the score rescaled from (best, least) to 0..1."""
    best, least = span
    if score <= least or best <= least:
        return 0.0
    return (score - least) / (best - least)


def fuse(
    evidence: Evidence, candidates: CandidateSet, fusion: Fusion, *, has_no_vector: bool
) -> Points:
    """Return the points of one candidate.

    ``has_no_vector`` is True when the request has no vector; then words have the whole weight.
    """
    words, meaning, embedder = fusion_weights(candidates, fusion, has_no_vector=has_no_vector)
    return Points(
        words * rescale(evidence.words, candidates.word_range) if evidence.ranked else 0.0,
        meaning * rescale(evidence.meaning, candidates.cosine_range),
        fusion.called if evidence.called else 0.0,
        fusion.phrase if evidence.phrases else 0.0,
        fusion.files * evidence.files,
        fusion.prior * evidence.prior,
        -fusion.avoid * evidence.avoid,
        FEEDBACK_POINTS * evidence.feedback,
        embedder * rescale(evidence.embedded, candidates.embedder_range),
        evidence.cover.points,
        order=evidence.order.points,
    )


def fusion_weights(
    candidates: CandidateSet, fusion: Fusion, *, has_no_vector: bool
) -> tuple[float, float, float]:
    """Return the weights of words, meaning and embedder. An embedder reduces the other two."""
    words, meaning = (1.0, 0.0) if has_no_vector else (fusion.words, fusion.meaning)
    if not candidates.embedder_cosines:
        return words, meaning, 0.0
    rest = 1.0 - candidates.embedder_weight
    return words * rest, meaning * rest, candidates.embedder_weight


def fuse_totals(
    candidates: CandidateSet, fusion: Fusion, *, has_no_vector: bool
) -> dict[int, float]:
    """Return :attr:`Points.total` of all candidates by ordinal, without a Points value for each."""
    words, meaning, embedder = fusion_weights(candidates, fusion, has_no_vector=has_no_vector)
    most_words, no_words = candidates.word_range
    most_meaning, no_meaning = candidates.cosine_range
    words_room = max(most_words - no_words, 0.0)
    meaning_room = max(most_meaning - no_meaning, 0.0)
    if meaning_room:
        totals = {
            o: meaning * ((cosine - no_meaning) / meaning_room) if cosine > no_meaning else 0.0
            for o, cosine in candidates.cosines.items()
        }
    else:
        totals = dict.fromkeys(candidates.cosines, 0.0)
    if words_room:
        for ordinal, score in candidates.word_scores.items():
            if score > no_words:  # a sum of two does not depend on their order
                totals[ordinal] += words * ((score - no_words) / words_room)
    if embedder:
        for ordinal, cosine in candidates.embedder_cosines.items():
            totals[ordinal] += embedder * rescale(cosine, candidates.embedder_range)
    for ordinal in candidates.extra:
        totals[ordinal] = fuse(
            candidates.evidence(ordinal, 0.0), candidates, fusion, has_no_vector=has_no_vector
        ).total
    return totals


def top_by_points(
    totals: Mapping[int, float], searcher: SegmentSearcher, number: int
) -> list[tuple[int, float]]:
    """Return the best ``number`` (ordinal, points), best first; ties by :func:`tie_key`."""
    if number < 1 or not totals:
        return []
    least = sorted(totals.values(), reverse=True)[:number][-1]
    close = [pair for pair in totals.items() if pair[1] >= least]
    if len({fuse for _, fuse in close}) < len(close):  # digests are slow, so only for ties
        close.sort(key=lambda pair: tie_key(searcher.key(pair[0])))
    close.sort(key=lambda pair: -pair[1])
    return close[:number]
