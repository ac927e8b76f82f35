"""Calibration: from points to the probability that a skill fits.

A logistic regression gives the log-odds of the best skill. Other skills lose log-odds in
proportion to their distance in points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import exp
from typing import TYPE_CHECKING

from skillyard.base.sums import stable_sum
from skillyard.engine.ranking.hybrid.constants import (
    FEEDBACK_LOG_ODDS,
    HALF_OF_QUERY,
    Calibration,
    Features,
    QueryFeatures,
)
from skillyard.engine.ranking.hybrid.evidence import Evidence

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


def one_word_adjustment(features: Features, calibration: Calibration) -> float:
    """Return the contribution when only one of several query terms matches; otherwise 0.0."""
    one = features.plain > 0.0 and features.rest == 0.0 and features.passage_share < 1.0
    return calibration.one_word if one and not features.own_name else 0.0


def adjust_by_cosine(
    log_odds: float, best: int, cosines: Mapping[int, float], calibration: EmbedderCalibration
) -> float:
    """Return the log-odds after an embedder's cosines of the candidates."""
    cosine = cosines.get(best, 0.0)
    others = max([value for ordinal, value in cosines.items() if ordinal != best], default=0.0)
    counts = calibration
    ahead = counts.ahead * (cosine - others)
    return counts.bias + counts.log_odds * log_odds + counts.cosine * cosine + ahead


def best_log_odds(
    features: Features,
    query: QueryFeatures,
    evidence: Evidence,
    calibration: Calibration,
    *,
    blank: bool,
    is_small_talk: bool,
    adjust: Callable[[float], float] | None = None,
) -> float:
    """Return the log-odds that the best skill fits.

    A matching file pattern and feedback of the user add to them. Rules set a minimum for a skill
    that is called by name or by a phrase, and a maximum for small talk. ``blank`` is True when the
    request has no term.
    ``adjust`` is applied to the log-odds of the features.
    """
    total = stable_sum([value for _, value in log_odds_parts(features, query, calibration)])
    total += one_word_adjustment(features, calibration)
    if adjust is not None:
        total = adjust(total)
    if is_small_talk:
        total = min(total, calibration.talk)
    if evidence.files:
        log_odds = calibration.file_alone if blank else total
        total = log_odds + calibration.file * evidence.files
    if evidence.share >= HALF_OF_QUERY:
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
