"""Score fusion: from evidence to points, which order the candidates of one request."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from skillyard.engine.index.searcher import tie_key
from skillyard.engine.index.segment_searcher import SegmentSearcher
from skillyard.engine.index.token_table import UNIT
from skillyard.engine.ranking.hybrid.constants import FEEDBACK_POINTS, FORBIDDEN_POINTS, Fusion

UNIT_DOT = UNIT * UNIT
"""The dot product of a stored unit vector with itself."""


class Coverage(NamedTuple):
    """The coverage of a long request by one of the best skills (:mod:`.order`)."""

    points: float = 0.0
    """Points, relative to the lowest of the best skills; at least 0."""
    share: float = 0.0
    """Share of the request's rarity in terms that the skill contains, 0..1."""
    length: float = 0.0
    """log(body length / short length); at least 0."""
    cosine: float = 0.0
    """Its cosine with the request and the best skills (:class:`Feedback`)."""


class Order(NamedTuple):
    """What orders the best skills of a request once more (:mod:`.order`)."""

    points: float = 0.0
    """Points, relative to the lowest of the best skills; at least 0."""
    share: float = 0.0
    """Share of the request's rarity in terms that the skill contains, 0..1."""
    names: float = 0.0
    """Share of its rarity in names that the skill does not contain, 0..1."""
    cosine: float = 0.0
    """Cosine of the request and the skill by an embedder that orders, or else by the table."""


class Evidence(NamedTuple):
    """The evidence for and against one candidate."""

    words: float
    """Exact BM25F score: Σ weight · impact."""
    meaning: float
    """Cosine of the request's vector (or of :class:`Feedback`) and the skill's, -1..1."""
    called: bool = False
    """The request calls it by ``@name`` or ``/name``, or consists of its name."""
    phrases: tuple[str, ...] = ()
    """Its names and trigger phrases that occur in the request."""
    share: float = 0.0
    """Share of the request's words in the longest of these phrases, 0..1."""
    files: float = 0.0
    """The weight of the best file pattern that matches, 0..1."""
    prior: float = 0.0
    """Popularity, 0..1."""
    avoid: float = 0.0
    """Share of the request's weight in terms of what the skill is not for, 0..1."""
    feedback: float = 0.0
    """What the user said of it for similar requests, -1 (wrong) to 1 (right)."""
    forbidden: bool = False
    """Its name stands in what the request excludes."""
    embedded: float = 0.0
    """Cosine by an embedder, -1..1; 0 without one."""
    ranked: bool = True
    """False for a candidate of the cosine search only; its BM25F score is then not used."""
    cover: Coverage = Coverage()
    order: Order = Order()


class ExtraEvidence(NamedTuple):
    """Evidence beside BM25F score and cosine, which few candidates have; see :class:`Evidence`."""

    called: bool = False
    phrases: tuple[str, ...] = ()
    share: float = 0.0
    files: float = 0.0
    prior: float = 0.0
    avoid: float = 0.0
    feedback: float = 0.0
    forbidden: bool = False


class Feedback(NamedTuple):
    """The query vector after pseudo-relevance feedback (:mod:`.retrieval`)."""

    direction: bytes
    """The moved vector, in the stored form."""
    own: float
    """Weight of the request's own unit vector."""
    best: tuple[tuple[int, float], ...]
    """(ordinal, weight) of the unit vector of each best skill."""


class CandidateSet(NamedTuple):
    """The candidates of one request, and the ranges for rescaling their scores."""

    word_scores: Mapping[int, float]
    """BM25F scores by ordinal: of the best matches, and of candidates with other evidence."""
    cosines: Mapping[int, float]
    """Cosines of all candidates by ordinal."""
    extra: Mapping[int, ExtraEvidence]
    """Other evidence by ordinal."""
    word_range: tuple[float, float]
    """The BM25F scores that are rescaled to 1 and to 0."""
    cosine_range: tuple[float, float]
    """The cosines that are rescaled to 1 and to 0."""
    embedder_cosines: Mapping[int, float] = {}
    """Cosines by an embedder; empty without one."""
    embedder_range: tuple[float, float] = (0.0, 0.0)
    embedder_weight: float = 0.0
    """The embedder's share of the points of words, meaning and embedder."""
    query_cosines: Mapping[int, float] = {}
    """Cosines with the request's own vector; they differ from :attr:`cosines` after feedback."""
    feedback: Feedback | None = None
    """The moved query vector of a long request; None otherwise."""
    coverage: Mapping[int, Coverage] = {}
    """Coverage of a long request by the best skills, by ordinal."""
    order: Mapping[int, Order] = {}
    """What orders the best skills of a shorter request once more, by ordinal."""

    def evidence(self, ordinal: int, score: float) -> Evidence:
        """Return the evidence of a candidate. ``score`` is the BM25F score of an unranked one."""
        extra = self.extra.get(ordinal, ExtraEvidence())
        cosine = self.embedder_cosines.get(ordinal, 0.0)
        ranked = ordinal in self.word_scores
        score = self.word_scores.get(ordinal, score)
        cover = self.coverage.get(ordinal, Coverage())
        order = self.order.get(ordinal, Order())
        return Evidence(score, self.cosines[ordinal], *extra, cosine, ranked, cover, order)


def score_range(scores: Sequence[float], depth: int) -> tuple[float, float]:
    """Return the best score and the one at ``depth``, which is 0.0 for a shorter list."""
    best = scores[0] if scores else 0.0
    return best, scores[depth - 1] if len(scores) >= depth else 0.0


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
    forbidden: float = 0.0

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
        forbidden=-FORBIDDEN_POINTS if evidence.forbidden else 0.0,
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
