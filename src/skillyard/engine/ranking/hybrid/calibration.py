"""Calibration: from points to the probability that a skill fits.

A logistic regression gives the log-odds of the best skill. Other skills lose log-odds in
proportion to their distance in points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import accumulate, combinations_with_replacement
from math import exp, log, sqrt
from operator import add
from typing import TYPE_CHECKING

from skillyard.engine.index.facet_terms import NAME_TERM
from skillyard.engine.index.segment_searcher import SegmentSearcher
from skillyard.engine.index.token_table import TokenTable
from skillyard.engine.ranking.hybrid.constants import (
    FEEDBACK_LOG_ODDS,
    HALF_OF_QUERY,
    Calibration,
    Features,
    QueryFeatures,
)
from skillyard.engine.ranking.hybrid.fusion import UNIT_DOT, CandidateSet, Evidence
from skillyard.engine.ranking.hybrid.query_analysis import BACKGROUND, AnalysedQuery, Term

if TYPE_CHECKING:
    from skillyard.engine.embedding.protocol import EmbedderCalibration


def log_odds_parts(
    features: Features, query: QueryFeatures, calibration: Calibration
) -> list[tuple[str, float]]:
    """Return (name, contribution to the log-odds) of the bias and of each feature."""
    length, size = query.length, query.size
    parts = [("bias", calibration.bias)]
    for name, value, counts in zip(query._fields, query, calibration.situation, strict=True):
        parts.append((name, counts * value))
    weights = zip(calibration.counts, calibration.by_length, calibration.by_size, strict=True)
    for name, value, (base, by_length, by_size) in zip(
        features._fields, features, weights, strict=True
    ):
        parts.append((name, (base + by_length * length + by_size * size) * value))
    return parts


PLAIN_NAME_COSINE = 0.65
"""Cosine from which a plain word that is in a name means the skill (``training/README.md``)."""


def one_word_adjustment(
    features: Features, calibration: Calibration, *, is_plain_name: bool = False
) -> float:
    """Return the contribution when only one of several query terms matches; otherwise 0.0.

    ``is_plain_name`` is True when the request writes the words of the name like any other word.
    """
    if features.plain <= 0.0 or features.rest or features.passage_share >= 1.0:
        return 0.0
    if not features.own_name:
        return calibration.one_word
    is_other_sense = is_plain_name and features.meaning < PLAIN_NAME_COSINE
    return calibration.one_name if is_other_sense else 0.0


def adjust_by_cosine(
    log_odds: float,
    best: int,
    cosines: Mapping[int, float],
    features: Features,
    query: QueryFeatures,
    calibration: EmbedderCalibration,
    background: Sequence[float] = (),
    *,
    margin: float,
) -> float:
    """Return the log-odds after an embedder's cosines of the candidates.

    ``margin`` is the points of the best skill above the next.
    """
    cosine = cosines.get(best, 0.0)
    ahead = cosine - _best_other(cosines, best)
    counts = calibration
    nearest = background[0] if background else 0.0
    facts = (log_odds, cosine, ahead, nearest, margin)
    pairs = [one * other for one, other in combinations_with_replacement(facts, 2)]
    larger = [max(0.0, query.size - FORTY) * value for value in (1.0, *facts)]
    parts = [counts.bias, counts.log_odds * log_odds, counts.cosine * cosine, counts.ahead * ahead]
    parts.append(counts.margin * margin)
    for weights, values in (
        (counts.features, features),
        (counts.background, background),
        (counts.pairs, pairs),
        (counts.larger, larger),
    ):
        parts += [weight * value for weight, value in zip(weights, values, strict=False)]
    if not query.foreign:
        parts += [counts.english, counts.english_cosine * cosine, counts.english_ahead * ahead]
    return reduce(add, parts, 0.0)


def best_log_odds(
    features: Features,
    query: QueryFeatures,
    evidence: Evidence,
    calibration: Calibration,
    *,
    blank: bool,
    is_small_talk: bool,
    is_for_skills: bool = False,
    is_plain_name: bool = False,
    adjust: Callable[[float], float] | None = None,
) -> float:
    """Return the log-odds that the best skill fits.

    A matching file pattern and feedback of the user add to them. Rules set a minimum for a skill
    that is called by name or by a phrase, and a maximum for small talk. ``blank`` is True when the
    request has no term, ``is_for_skills`` when it works on a skill and this one is for that.
    ``adjust`` is applied to the log-odds of the features.
    """
    parts = log_odds_parts(features, query, calibration)
    total = reduce(add, [value for _, value in parts], 0.0)
    total += one_word_adjustment(features, calibration, is_plain_name=is_plain_name)
    if adjust is not None:
        total = adjust(total)
    if is_for_skills:
        total += calibration.work
    total += calibration.avoid * evidence.avoid
    if is_small_talk:
        total = min(total, calibration.talk)
    if evidence.files:
        log_odds = calibration.file_alone if blank else total
        total = log_odds + calibration.file * evidence.files
    total += calibration.quoted * evidence.quoted.share**2
    if max(evidence.share, evidence.quoted.share) >= HALF_OF_QUERY:
        total = max(total, calibration.phrased)
    total += FEEDBACK_LOG_ODDS * evidence.feedback
    if evidence.called:
        total = max(total, calibration.called)
    return total


def log_odds_slope(log_odds: float, calibration: Calibration) -> float:
    """Return the log-odds lost per point of distance to the best skill.

    The loss grows with the best skill's log-odds, so that a distant skill stays below an even
    chance even when the best one is nearly certain.
    """
    return calibration.gap + max(0.0, log_odds)


MIN_LOG_ODDS = -700.0
"""Lower bound that avoids overflow of the exponential."""


def probability(log_odds: float) -> float:
    """Return the probability of log-odds. It is never 0, so that the order is preserved."""
    return 1.0 / (1.0 + exp(-log_odds if log_odds > MIN_LOG_ODDS else -MIN_LOG_ODDS))


def probabilities(
    totals: Iterable[tuple[int, float]], best: float, log_odds: float, gap: float
) -> list[tuple[int, float]]:
    """Return (ordinal, probability) for each (ordinal, points) with positive points, in order.

    ``best`` and ``log_odds`` belong to the best skill; ``gap`` is the loss of log-odds per point.
    """
    whole = probability(log_odds)
    return [
        (ordinal, whole)
        if total >= best
        else (ordinal, 1.0 / (1.0 + exp(-odds if odds > MIN_LOG_ODDS else -MIN_LOG_ODDS)))
        for ordinal, total in totals
        if total > 0.0
        for odds in (log_odds - gap * (best - total),)
    ]


RARE_TERM_RARITY = 5.8
"""Rarity of a term that three skills in a thousand contain. An unmatched term above it suggests
another subject."""
MAX_NAMES_PER_THOUSAND = 2.0
"""Cap for how many names in a thousand contain a term."""
PASSAGE_TERMS = 10
"""Length of a passage in terms: one or two sentences."""
MEAN_IMPACT = 0.45
"""Mean impact of a term in a skill that contains it."""
MEAN_SQUARED_IMPACT = 0.20
"""Mean square of that impact."""
MIN_VARIANCE = 0.05
"""Added to the variance of the chance score, so that it is never zero."""
MIN_SHARE = 0.0001
"""Lower bound for the share of skills that contain a term."""

MEAN_LOG_LENGTH = 2.7
"""log(1 + 14 terms): a request of average length."""
MEAN_LOG_SIZE = 5.7
"""log(300 skills): a library of average size."""
LOG_SIZE_RANGE = (0.69, 9.26)
"""log(1 + size) of the smallest and largest training library. Other sizes are clamped."""
FORTY = -1.0
"""The size of a library of forty skills, as a feature: near misses exist for these alone."""
SHORT_LOG_LENGTH = 1.7
"""log(1 + 4.5 terms): below it, features of a request carry little information."""
LONG_LOG_LENGTH = 3.0
"""log(1 + 19 terms): above it, a request mentions more than its subject."""


def query_features(analysed: AnalysedQuery, searcher: SegmentSearcher) -> QueryFeatures:
    """Return the features of the request and the library, which do not depend on candidates."""
    length = log(1.0 + len(analysed.terms))
    least, most = LOG_SIZE_RANGE
    size = (min(max(log(1.0 + searcher.size), least), most) - MEAN_LOG_SIZE) / 2.0
    return QueryFeatures(
        length=length - MEAN_LOG_LENGTH,
        short=max(0.0, SHORT_LOG_LENGTH - length),
        long=max(0.0, length - LONG_LOG_LENGTH),
        foreign=0.0 if analysed.is_english else 1.0,
        size=size,
        both=(length - MEAN_LOG_LENGTH) * size,
    )


def skill_features(
    best: int,
    evidence: Evidence,
    candidates: CandidateSet,
    analysed: AnalysedQuery,
    searcher: SegmentSearcher,
    table: TokenTable,
) -> Features:
    """Return the features of the best skill."""
    terms = analysed.terms
    texts = [term.text for term in terms]
    impacts = searcher.impacts(best, [*texts, *(NAME_TERM + text for text in texts)])
    number = len(terms)
    matches: dict[str, tuple[float, float]] = {}  # by term: (score, weight)
    unmatched = []
    total = unmatched_names = plain = heaviest = matched = emphasised = name_weight = expected = (
        name_frequency
    ) = 0.0
    variance = MIN_VARIANCE
    pool_size = float(searcher.size + BACKGROUND)
    for term, impact, name in zip(terms, impacts, impacts[number:], strict=False):
        text, weight, rarity, frequency, _, emphasis, public, names, _ = term
        total += weight
        emphasised += weight * emphasis
        share_of_skills = (frequency + BACKGROUND * public) / pool_size
        share_of_skills = MIN_SHARE if share_of_skills < MIN_SHARE else min(share_of_skills, 1.0)
        expected += weight * share_of_skills
        variance += (
            MEAN_SQUARED_IMPACT * weight * weight * share_of_skills * (1.0 - share_of_skills)
        )
        if names:
            name_frequency += weight * log(
                1.0 + min(MAX_NAMES_PER_THOUSAND, 1_000.0 * names / pool_size)
            )
            if name:
                name_weight += weight
        if impact:
            score = weight * impact
            plain += rarity * impact
            matched += score
            if score > heaviest:
                heaviest = score
            matches[text] = (score, weight)
        else:
            unmatched.append(term)
            matches[text] = (0.0, weight)
            if text in analysed.named:
                unmatched_names += weight
    share = 1.0 / total if total else 0.0
    deviation = sqrt(variance)
    rare_candidates = unmatched if analysed.is_english else ()
    passage, passage_share = _best_passage(analysed, matches)
    cosine = candidates.query_cosines.get(best, 0.0)
    is_judged = any(extra.feedback for extra in candidates.extra.values())
    others = _unprompted(candidates) if is_judged else candidates.query_cosines
    return Features(
        plain=log(1.0 + plain),
        rest=log(1.0 + max(0.0, matched - heaviest)),
        passage=log(1.0 + passage),
        passage_share=passage_share,
        beyond=(evidence.words - MEAN_IMPACT * expected) / deviation,
        lead=(evidence.words - _best_other(candidates.word_scores, best)) / deviation,
        meaning=cosine,
        ahead=cosine - _best_other(others, best),
        unmatched_cosine=_unmatched_cosine(best, unmatched, analysed, searcher, table)
        if unmatched
        else 0.0,
        own_name=name_weight * share,
        in_names=0.0 if analysed.is_small_talk else name_frequency * share,
        named_missing=unmatched_names * share,
        out_of_vocabulary=max([0.0, *(term.rarity - RARE_TERM_RARITY for term in rare_candidates)]),
        emphasis=emphasised * share,
    )


def _unprompted(candidates: CandidateSet) -> Mapping[int, float]:
    """Return the cosines without those of candidates that feedback alone adds.

    They may be negative, and would make the best skill surer than without them.
    """
    extra = candidates.extra
    cosines = candidates.query_cosines
    alone = [o for o, own in extra.items() if own.feedback and cosines.get(o, 0.0) < 0.0]
    return {o: c for o, c in cosines.items() if o not in alone} if alone else cosines


def _best_other(scores: Mapping[int, float], best: int) -> float:
    """Return the highest score of another candidate; 0.0 without one."""
    return max([score for ordinal, score in scores.items() if ordinal != best], default=0.0)


def _best_passage(
    analysed: AnalysedQuery, matches: Mapping[str, tuple[float, float]]
) -> tuple[float, float]:
    """Return the highest score of a passage, and the highest matched share of a passage's weight.

    A passage is a run of terms in the order of their first occurrence in the request.
    """
    run = [pair for text, _ in analysed.vector_terms if (pair := matches.get(text)) is not None]
    if not run:
        return 0.0, 0.0
    length = min(PASSAGE_TERMS, len(run))
    scores = [0.0, *accumulate([value for value, _ in run])]
    weights = [0.0, *accumulate([weight for _, weight in run])]
    matched = [0.0, *accumulate([weight if value else 0.0 for value, weight in run])]
    most = max([last - first for first, last in zip(scores, scores[length:], strict=False)])
    share = max(
        [
            (matched[at + length] - matched[at]) / (weights[at + length] - weights[at])
            for at in range(len(run) - length + 1)
        ]
    )
    return max(0.0, most), min(1.0, share)


def _unmatched_cosine(
    best: int,
    unmatched: Sequence[Term],
    analysed: AnalysedQuery,
    searcher: SegmentSearcher,
    table: TokenTable,
) -> float:
    """Return the cosine of the skill with the unmatched terms of the request."""
    texts = {term.text for term in unmatched}
    unmatched_terms = [pair for pair in analysed.vector_terms if pair[0] in texts]
    vector = table.vector([(1.0, unmatched_terms)], query=True) if unmatched_terms else b""
    return searcher.dots(vector, [best])[0] / UNIT_DOT if vector else 0.0
