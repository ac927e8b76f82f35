"""The effect of length: is it the skill that wins, or the longer answer.

``logit(win) = a + b * tanh(d / s)``, d the difference in length and s its standard deviation: the
length term of Dubois et al., "Length-Controlled AlpacaEval", arXiv 2404.04475. The win rate at
equal length is then sigmoid(a).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, tanh
from typing import Any, NamedTuple

from skillyard.evals.statistics.intervals import mean_of, spread_of
from skillyard.evals.statistics.pairs import Unit
from skillyard.evals.statistics.scientific import arrays, random_places

LEAST_PAIRS = 30
"""Minimum number of comparisons for an estimate of two parameters."""
PRIOR_SPREAD = 3.0
"""Standard deviation, in log-odds, of the normal prior that each parameter has around 0: weak
(3 log-odds are a win rate of 0.95), and enough to keep estimates finite where one side won all."""
BOOTSTRAP_UNITS = 10
"""From so many units on there are intervals: below, a bootstrap is too narrow."""
RESAMPLES = 1_000
_MAX_STEPS = 200
_LONGEST_STEP = 2.0
_CLOSE = 1e-10


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

    The parameters have a weak prior (``PRIOR_SPREAD``). If one arm's
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
    weights = _unit_weights(len(units), seed)[:, member]
    wins = np.array([one.win for one in ordered])
    parameters = fit_logistic(design, weights * wins, weights)
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


def fit_logistic(design: Any, wins: Any, totals: Any) -> Any:
    """Return the most likely parameters under the prior, one row a resample.

    ``design`` has a row an observation and a column a parameter; ``wins`` and ``totals`` have a
    row a resample and a column an observation: how much was won of how much, halves allowed.
    Newton's method on a strictly concave function, its steps bounded so that it cannot jump away.
    """
    np = arrays()
    first = _newton(design, wins[:1], totals[:1], np.zeros((1, design.shape[1])))
    # Resamples end near the first row, so they start from it.
    rest = _newton(design, wins[1:], totals[1:], np.repeat(first, len(wins) - 1, axis=0))
    return np.vstack([first, rest])


def _newton(design: Any, wins: Any, totals: Any, parameters: Any) -> Any:
    np = arrays()
    rows, columns = len(parameters), design.shape[1]
    prior = np.eye(columns) / PRIOR_SPREAD**2
    squares = (design[:, :, None] * design[:, None, :]).reshape(len(design), columns**2)
    squares = np.ascontiguousarray(squares.T)
    for _ in range(_MAX_STEPS if rows else 0):
        share = 1 / (1 + np.exp(-(parameters @ design.T)))
        slope = (wins - totals * share) @ design - parameters / PRIOR_SPREAD**2
        # For each resample: design' * diag(weights) * design, and the prior.
        weights = totals * share * (1 - share)
        # einsum, not @: starting the threads of a linear algebra library would take longer.
        curve = np.einsum("ro,co->rc", weights, squares).reshape(rows, columns, columns) + prior
        step = np.linalg.solve(curve, slope[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        parameters = parameters + step * np.minimum(
            1.0, _LONGEST_STEP / np.maximum(longest, _CLOSE)
        )
        if longest.max() < _CLOSE:
            break
    return parameters


def _unit_weights(units: int, seed: int) -> Any:
    """Return how often each unit counts, a row a resample, after a first row of ones.

    There are 1,000 resamples of whole units; below ten units there is only the first row.
    """
    np = arrays()
    once = np.ones((1, units))
    if units < BOOTSTRAP_UNITS:
        return once
    counts = np.zeros((RESAMPLES, units))
    places = random_places(seed, RESAMPLES * units, units).reshape(RESAMPLES, units)
    np.add.at(counts, (np.arange(RESAMPLES)[:, None], places), 1.0)
    return np.vstack([once, counts])
