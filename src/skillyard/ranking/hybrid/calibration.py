"""From points to a probability: whether any skill fits, and how far behind this one is."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp

from skillyard.ranking.hybrid.constants import HALF, Calibration, Facts, Situation
from skillyard.ranking.hybrid.evidence import Evidence
from skillyard.stable_sum import stable_sum

__all__ = ["logit", "parts", "probabilities", "probability"]


def parts(found: Facts, where: Situation, calibration: Calibration) -> list[tuple[str, float]]:
    """Return (name, what it adds to the log-odds): the bias, the situation, each fact."""
    length, size = where.length, where.size
    listed = [("bias", calibration.bias)]
    for name, value, counts in zip(where._fields, where, calibration.situation, strict=True):
        listed.append((name, counts * value))
    weights = zip(calibration.counts, calibration.by_length, calibration.by_size, strict=True)
    for name, value, (alone, longer, larger) in zip(found._fields, found, weights, strict=True):
        listed.append((name, (alone + longer * length + larger * size) * value))
    return listed


def one_word(found: Facts, calibration: Calibration) -> float:
    """Return what it adds to the log-odds that only one word of several is shared; 0.0 for more."""
    one = found.plain > 0.0 and found.rest == 0.0 and found.passage_share < 1.0
    return calibration.one_word if one and not found.own_name else 0.0


def logit(
    found: Facts,
    where: Situation,
    evidence: Evidence,
    calibration: Calibration,
    *,
    blank: bool,
    talk: bool,
) -> float:
    """Return the log-odds that the best skill fits.

    A matching file adds to them; a skill that is called by name, and the like, has at least what
    the rule says. ``blank`` is True where the request holds no
    term, ``talk`` where it holds mere talk.
    """
    total = stable_sum([value for _, value in parts(found, where, calibration)])
    total += one_word(found, calibration)
    if talk:
        total = min(total, calibration.talk)
    if evidence.files:
        said = calibration.file_alone if blank else total
        total = said + calibration.file * evidence.files
    if evidence.share >= HALF:
        total = max(total, calibration.phrased)
    if evidence.called:
        total = max(total, calibration.called)
    return total


def slope(log_odds: float, calibration: Calibration) -> float:
    """Return what one point behind the best skill costs, in logits.

    However surely the best one fits, that says little of one that is far behind: a whole point
    behind nothing is left of what the best has beyond an even chance.
    """
    return calibration.gap + max(0.0, log_odds)


LEAST = -700.0
"""Log-odds below which no exponential can be taken."""


def probability(log_odds: float) -> float:
    """Return the probability of log-odds; never quite 0, so that order is kept to the end."""
    return 1.0 / (1.0 + exp(-log_odds if log_odds > LEAST else -LEAST))


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
        else (ordinal, 1.0 / (1.0 + exp(-odds if odds > LEAST else -LEAST)))
        for ordinal, total in totals
        if total > 0.0
        for odds in (log_odds - gap * (best - total),)
    ]
