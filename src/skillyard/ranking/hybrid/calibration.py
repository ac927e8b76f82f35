"""From points to a probability: whether any skill fits, and how far behind this one is."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp

from skillyard.ranking.hybrid.constants import HALF_OF_QUERY, Calibration, Features, QueryFeatures
from skillyard.ranking.hybrid.evidence import Evidence
from skillyard.sums import stable_sum

__all__ = ["best_log_odds", "log_odds_parts", "probabilities", "probability"]


def log_odds_parts(
    features: Features, query: QueryFeatures, calibration: Calibration
) -> list[tuple[str, float]]:
    """Return (name, what it adds to the log-odds): the bias, the situation, each fact."""
    length, size = query.length, query.size
    listed = [("bias", calibration.bias)]
    for name, value, counts in zip(query._fields, query, calibration.situation, strict=True):
        listed.append((name, counts * value))
    weights = zip(calibration.counts, calibration.by_length, calibration.by_size, strict=True)
    for name, value, (base, by_length, by_size) in zip(
        features._fields, features, weights, strict=True
    ):
        listed.append((name, (base + by_length * length + by_size * size) * value))
    return listed


def one_word_adjustment(features: Features, calibration: Calibration) -> float:
    """Return what it adds to the log-odds that only one word of several is shared; 0.0 for more."""
    one = features.plain > 0.0 and features.rest == 0.0 and features.passage_share < 1.0
    return calibration.one_word if one and not features.own_name else 0.0


def best_log_odds(
    features: Features,
    query: QueryFeatures,
    evidence: Evidence,
    calibration: Calibration,
    *,
    blank: bool,
    is_small_talk: bool,
) -> float:
    """Return the log-odds that the best skill fits.

    A matching file adds to them; a skill that is called by name, and the like, has at least what
    the rule says. ``blank`` is True where the request holds no
    term, ``is_small_talk`` where it holds mere talk.
    """
    total = stable_sum([value for _, value in log_odds_parts(features, query, calibration)])
    total += one_word_adjustment(features, calibration)
    if is_small_talk:
        total = min(total, calibration.talk)
    if evidence.files:
        log_odds = calibration.file_alone if blank else total
        total = log_odds + calibration.file * evidence.files
    if evidence.share >= HALF_OF_QUERY:
        total = max(total, calibration.phrased)
    if evidence.called:
        total = max(total, calibration.called)
    return total


def log_odds_slope(log_odds: float, calibration: Calibration) -> float:
    """Return what one point behind the best skill costs, in logits.

    However surely the best one fits, that says little of one that is far behind: a whole point
    behind nothing is left of what the best has beyond an even chance.
    """
    return calibration.gap + max(0.0, log_odds)


MIN_LOG_ODDS = -700.0
"""Log-odds below which no exponential can be taken."""


def probability(log_odds: float) -> float:
    """Return the probability of log-odds; never quite 0, so that order is kept to the end."""
    return 1.0 / (1.0 + exp(-log_odds if log_odds > MIN_LOG_ODDS else -MIN_LOG_ODDS))


def probabilities(
    totals: Iterable[tuple[int, float]], best: float, log_odds: float, gap: float
) -> list[tuple[int, float]]:
    """Return (ordinal, probability) for the (ordinal, points) above 0, in their order.

    ``best`` are the points of the best skill, ``log_odds`` its own, and ``gap`` is what one point
    behind it costs.
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
