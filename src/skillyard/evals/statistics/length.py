"""The effect of length: is it the skill that wins, or the longer answer.

``logit(win) = a + b * tanh(d / s)``, d the difference in length and s its standard deviation: the
length term of Dubois et al., "Length-Controlled AlpacaEval", arXiv 2404.04475. The win rate at
equal length is then sigmoid(a).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, tanh
from typing import NamedTuple

from skillyard.evals.statistics.intervals import BOOTSTRAP_UNITS, mean_of, spread_of
from skillyard.evals.statistics.logistic import fit, unit_weights
from skillyard.evals.statistics.pairs import Unit
from skillyard.evals.statistics.scientific import arrays

__all__ = ["LEAST_PAIRS", "LengthModel", "Lengths", "length_model"]

LEAST_PAIRS = 30
"""Minimum number of comparisons for an estimate of two parameters."""


class Lengths(NamedTuple):
    """One comparison: how much longer the first answer is, and how much of the win it has."""

    unit: Unit
    difference: float
    """Characters, first less second."""
    win: float
    """1 for the first, 0 for the second, 0.5 for a tie."""


class LengthModel(NamedTuple):
    """The fitted model. If it was not fitted, its numbers are None and the note has the reason."""

    pairs: int
    mean_difference: float | None
    """Characters by which the first answers are longer."""
    win_rate: float | None
    """As judged, ties half."""
    a: float | None
    """Log-odds of the first at equal length."""
    b: float | None
    """Log-odds that a much longer answer gains (tanh is then 1)."""
    b_low: float | None
    """Percentile bootstrap over units, from 10 units on."""
    b_high: float | None
    controlled_win_rate: float | None
    controlled_low: float | None
    controlled_high: float | None
    note: str


def length_model(lengths: Sequence[Lengths], seed: int) -> LengthModel:
    """Return the length model of one comparison of two arms, from 30 comparisons on.

    The parameters have the weak prior of :mod:`skillyard.evals.statistics.logistic`. If one arm's
    answers are always longer by about the same amount, arm and length cannot be separated, and the
    intervals are wide.
    """
    ordered = sorted(lengths)
    spread = spread_of([one.difference for one in ordered])
    if len(ordered) < LEAST_PAIRS:
        return _unfitted(ordered, f"not fitted: {len(ordered)} of {LEAST_PAIRS} comparisons")
    if not spread:
        return _unfitted(ordered, "not fitted: every difference in length is the same")
    np = arrays()
    design = np.array([[1.0, tanh(one.difference / spread)] for one in ordered])
    units = sorted({one.unit for one in ordered})
    member = [units.index(one.unit) for one in ordered]
    weights = unit_weights(len(units), seed)[:, member]
    wins = np.array([one.win for one in ordered])
    parameters = fit(design, weights * wins, weights)
    a, b = (float(value) for value in parameters[0])
    model = _unfitted(ordered, "a and b have a weak prior around 0")
    model = model._replace(a=a, b=b, controlled_win_rate=_sigmoid(a))
    if len(parameters) == 1:
        return model._replace(note=f"{model.note}; intervals need {BOOTSTRAP_UNITS} prompts")
    low, high = np.quantile(parameters[1:], (0.025, 0.975), axis=0)
    return model._replace(
        b_low=float(low[1]),
        b_high=float(high[1]),
        controlled_low=_sigmoid(float(low[0])),
        controlled_high=_sigmoid(float(high[0])),
    )


def _unfitted(ordered: Sequence[Lengths], note: str) -> LengthModel:
    mean = mean_of([one.difference for one in ordered]) if ordered else None
    rate = fsum(one.win for one in ordered) / len(ordered) if ordered else None
    nothing = (None,) * 7
    return LengthModel(len(ordered), mean, rate, *nothing, note)


def _sigmoid(value: float) -> float:
    return 1 / (1 + exp(-value))
