"""Score fusion: from evidence to points, which order the candidates of one request.

Sums are ``reduce(add, ...)``: ``sum`` compensates for rounding from Python 3.12 on.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from math import log
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from skillyard.engine.index.facet_terms import FULL_IMPACT, LENGTH, MAX_BODY_TERMS, SHORT_BODY_TERMS
from skillyard.engine.index.segment_searcher import SegmentSearcher, tie_key
from skillyard.engine.index.token_table import UNIT
from skillyard.engine.ranking.hybrid.constants import FEEDBACK_POINTS, FORBIDDEN_POINTS, Fusion
from skillyard.engine.ranking.hybrid.query_analysis import AnalysedQuery

if TYPE_CHECKING:
    from skillyard.engine.embedding.protocol import Embedder

EXCLUDED = "excluded by the request"
SUBJECT = "spoken about, not asked for"
UNIT_DOT = UNIT * UNIT
"""The dot product of a stored unit vector with itself."""


class Coverage(NamedTuple):
    """The coverage of a long request by one of the best skills (:func:`look_again`)."""

    points: float = 0.0
    """Points, relative to the lowest of the best skills; at least 0."""
    share: float = 0.0
    """Share of the request's rarity in terms that the skill contains, 0..1."""
    length: float = 0.0
    """log(body length / short length); at least 0."""
    cosine: float = 0.0
    """Its cosine with the request and the best skills (:class:`RocchioFeedback`)."""


class Order(NamedTuple):
    """What orders the best skills of a request once more (:func:`look_again`)."""

    points: float = 0.0
    """Points, relative to the lowest of the best skills; at least 0."""
    share: float = 0.0
    """Share of the request's rarity in terms that the skill contains, 0..1."""
    names: float = 0.0
    """Share of its rarity in names that the skill does not contain, 0..1."""
    cosine: float = 0.0
    """Cosine of the request and the skill by an embedder that orders, or else by the table."""


class Quoted(NamedTuple):
    """A phrase that a description quotes, in a request."""

    words: str = ""
    """As the request writes it."""
    share: float = 0.0
    """Its share of the request's content words, 0..1; at least half for a long one."""


NOTHING_QUOTED = Quoted()


class Evidence(NamedTuple):
    """The evidence for and against one candidate."""

    words: float = 0.0
    """Exact BM25F score: Σ weight · impact."""
    meaning: float = 0.0
    """Cosine of the request's vector (or of :class:`RocchioFeedback`) and the skill's, -1..1."""
    called: bool = False
    """The request calls it by ``@name`` or ``/name``, or consists of its name."""
    phrases: tuple[str, ...] = ()
    """Its names and trigger phrases that occur in the request."""
    share: float = 0.0
    """Share of the request's words in the longest of these phrases, 0..1."""
    quoted: Quoted = NOTHING_QUOTED
    """The phrase of its description that occurs in the request."""
    files: float = 0.0
    """The weight of the best file pattern that matches, 0..1."""
    prior: float = 0.0
    """Popularity, 0..1."""
    avoid: float = 0.0
    """Share of the request's weight in terms of what the skill is not for, 0..1."""
    feedback: float = 0.0
    """What the user said of it for similar requests, -1 (wrong) to 1 (right)."""
    forbidden: str = ""
    """Why the request does not want it: :data:`EXCLUDED` or :data:`SUBJECT`."""
    embedded: float = 0.0
    """Cosine by an embedder, -1..1; 0 without one."""
    ranked: bool = True
    """False for a candidate of the cosine search only; its BM25F score is then not used."""
    cover: Coverage = Coverage()
    order: Order = Order()


class RocchioFeedback(NamedTuple):
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
    extra: Mapping[int, Evidence]
    """By ordinal, the evidence beside words and meaning; few candidates have any."""
    word_range: tuple[float, float]
    """The BM25F scores that are rescaled to 1 and to 0."""
    cosine_range: tuple[float, float]
    """The cosines that are rescaled to 1 and to 0."""
    embedder_cosines: Mapping[int, float] = {}
    """Cosines by an embedder; empty without one."""
    embedder_range: tuple[float, float] = (0.0, 0.0)
    embedder_weight: float = 0.0
    """The embedder's share of the points of words, meaning and embedder."""
    embedded_query: bytes = b""
    """The request's vector by an embedder; empty without one."""
    background: tuple[float, ...] = ()
    """The request's highest and mean cosine with the embedder's background; empty without one."""
    talk: float = 0.0
    """The embedder's probability that the request asks for no work."""
    query_cosines: Mapping[int, float] = {}
    """Cosines with the request's own vector; they differ from :attr:`cosines` after feedback."""
    feedback: RocchioFeedback | None = None
    """The moved query vector of a long request; None otherwise."""
    coverage: Mapping[int, Coverage] = {}
    """Coverage of a long request by the best skills, by ordinal."""
    order: Mapping[int, Order] = {}
    """What orders the best skills of a shorter request once more, by ordinal."""

    def evidence(self, ordinal: int, score: float) -> Evidence:
        """Return the evidence of a candidate. ``score`` is the BM25F score of an unranked one."""
        return self.extra.get(ordinal, Evidence())._replace(
            words=self.word_scores.get(ordinal, score),
            meaning=self.cosines[ordinal],
            embedded=self.embedder_cosines.get(ordinal, 0.0),
            ranked=ordinal in self.word_scores,
            cover=self.coverage.get(ordinal, Coverage()),
            order=self.order.get(ordinal, Order()),
        )


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
    order: float = 0.0
    forbidden: float = 0.0

    @property
    def total(self) -> float:
        """The sum, added in the order of the fields."""
        return reduce(add, self, 0.0)


def rescale(score: float, span: tuple[float, float]) -> float:
    """Return the score rescaled from (best, least) to 0..1."""
    best, least = span
    if score <= least or best <= least:
        return 0.0
    return (score - least) / (best - least)


def fuse(evidence: Evidence, candidates: CandidateSet, fusion: Fusion) -> Points:
    """Return the points of one candidate."""
    words, meaning, embedder = _weights(candidates, fusion)
    return Points(
        words * rescale(evidence.words, candidates.word_range) if evidence.ranked else 0.0,
        meaning * rescale(evidence.meaning, candidates.cosine_range),
        fusion.called if evidence.called else 0.0,
        (fusion.phrase if evidence.phrases else 0.0) + fusion.quoted * evidence.quoted.share**2,
        fusion.files * evidence.files,
        fusion.prior * evidence.prior,
        -fusion.avoid * evidence.avoid,
        FEEDBACK_POINTS * evidence.feedback,
        embedder * rescale(evidence.embedded, candidates.embedder_range),
        evidence.cover.points,
        order=evidence.order.points,
        forbidden=-FORBIDDEN_POINTS if evidence.forbidden else 0.0,
    )


def _weights(candidates: CandidateSet, fusion: Fusion) -> tuple[float, float, float]:
    """Return the weights of words, meaning and embedder. An embedder reduces the other two.

    Words have the whole weight where no skill has a positive cosine, as without a vector.
    """
    has_meaning = candidates.cosine_range[0] > 0.0
    words, meaning = (fusion.words, fusion.meaning) if has_meaning else (1.0, 0.0)
    if not candidates.embedder_cosines:
        return words, meaning, 0.0
    rest = 1.0 - candidates.embedder_weight
    return words * rest, meaning * rest, candidates.embedder_weight


def fuse_totals(candidates: CandidateSet, fusion: Fusion) -> dict[int, float]:
    """Return :attr:`Points.total` of all candidates by ordinal, without a Points value for each."""
    words, meaning, embedder = _weights(candidates, fusion)
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
        totals[ordinal] = fuse(candidates.evidence(ordinal, 0.0), candidates, fusion).total
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


# The best skills are ordered once more. Points are rescaled for each request: the best words and
# the best cosine have the same points in every request, however good they are. So a listwise linear
# model weighs, beside the points, absolute numbers of the best skills: how much of the request a
# skill contains, the cosine of the two, and for a short request how much of it are names that the
# skill does not contain (a sibling for another product). ``training/order.py`` fits it;
# ``training/README.md`` has its gain, and what other numbers add to it.
FULL_LOG_LENGTH = log(MAX_BODY_TERMS / SHORT_BODY_TERMS) / FULL_IMPACT
"""log(length / short length) for a LENGTH impact of 1."""


def look_again(
    totals: dict[int, float],
    candidates: CandidateSet,
    analysed: AnalysedQuery,
    searcher: SegmentSearcher,
    fusion: Fusion,
    embedder: "Embedder | None",
) -> CandidateSet:
    """Add to ``totals`` what orders the best skills once more; return the candidates with it.

    Nothing changes unless the request is in English (the language of the training data) and calls
    no skill by name. The points are at least 0: they are relative to the lowest of the best skills.
    The user's feedback changes neither which skills those are nor their points.
    """
    if not analysed.is_english or any(extra.called for extra in candidates.extra.values()):
        return candidates
    judged = {
        ordinal: totals[ordinal] - FEEDBACK_POINTS * extra.feedback
        for ordinal, extra in candidates.extra.items()
        if extra.feedback
    }
    number = fusion.covered if analysed.is_long else fusion.ordered
    best = top_by_points({**totals, **judged} if judged else totals, searcher, number)
    ordinals = [ordinal for ordinal, points in best if points > 0.0]
    terms = [(term.text, term.rarity) for term in analysed.terms]
    total = reduce(add, [rarity for _, rarity in terms], 0.0) or 1.0
    shares = [rarity / total for rarity in searcher.matched_weights(terms, ordinals)]
    again: Mapping[int, Coverage | Order]
    if not analysed.is_long:
        names = [(text, rarity) for text, rarity in terms if text in analysed.named]
        present = searcher.matched_weights(names, ordinals) if names else [0.0] * len(ordinals)
        all_names = reduce(add, [rarity for _, rarity in names], 0.0)
        missing = [max(0.0, all_names - rarity) / total for rarity in present]
        again = order = _score_order(ordinals, shares, missing, candidates, fusion, embedder)
        candidates = candidates._replace(order=order)
    elif candidates.feedback is None:
        return candidates
    else:
        lengths = searcher.exact_scores([(LENGTH, FULL_LOG_LENGTH)], ordinals)
        again = coverage = _score_coverage(ordinals, shares, lengths, candidates, fusion)
        candidates = candidates._replace(coverage=coverage)
    for ordinal, own in again.items():
        totals[ordinal] += own.points
    return candidates


def _score_order(
    ordinals: Sequence[int],
    shares: Sequence[float],
    missing: Sequence[float],
    candidates: CandidateSet,
    fusion: Fusion,
    embedder: "Embedder | None",
) -> dict[int, Order]:
    """Return what orders the best skills of a short request, by ordinal.

    The cosine is that of the token table, or of an embedder that has numbers for it
    (:class:`~skillyard.engine.embedding.protocol.EmbedderOrder`).
    """
    by_share, by_names, by_cosine = fusion.share, fusion.names, fusion.cosine
    cosine_of = candidates.cosines
    if embedder is not None and candidates.embedder_cosines:
        from skillyard.engine.embedding.protocol import order_of

        if (own := order_of(embedder)) is not None:
            (by_share, by_names, by_cosine), cosine_of = own, candidates.embedder_cosines
    cosines = [cosine_of.get(ordinal, 0.0) for ordinal in ordinals]
    points = [
        by_share * share - by_names * name + by_cosine * cosine
        for share, name, cosine in zip(shares, missing, cosines, strict=True)
    ]
    least = min(points, default=0.0)
    rows = zip(ordinals, points, shares, missing, cosines, strict=True)
    return {ordinal: Order(own - least, *values) for ordinal, own, *values in rows}


def _score_coverage(
    ordinals: Sequence[int],
    shares: Sequence[float],
    lengths: Sequence[float],
    candidates: CandidateSet,
    fusion: Fusion,
) -> dict[int, Coverage]:
    """Return the coverage of a long request by the best skills, by ordinal."""
    cosines = [candidates.cosines.get(ordinal, 0.0) for ordinal in ordinals]
    points = [
        fusion.coverage * share + fusion.nearness * cosine - fusion.length * length
        for share, cosine, length in zip(shares, cosines, lengths, strict=True)
    ]
    least = min(points, default=0.0)
    rows = zip(ordinals, points, shares, lengths, cosines, strict=True)
    return {ordinal: Coverage(own - least, *values) for ordinal, own, *values in rows}
