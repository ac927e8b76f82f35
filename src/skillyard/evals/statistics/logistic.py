"""Logistic regression of few parameters, for many resamples at once."""

from __future__ import annotations

from typing import Any

from skillyard.evals.statistics.intervals import BOOTSTRAP_UNITS
from skillyard.evals.statistics.scientific import arrays, resampled

__all__ = ["PRIOR_SPREAD", "fit", "unit_weights"]

PRIOR_SPREAD = 3.0
"""Standard deviation, in log-odds, of the normal prior that each parameter has around 0: weak
(3 log-odds are a win rate of 0.95), and enough to keep estimates finite where one side won all."""
RESAMPLES = 1_000
_MAX_STEPS = 200
_LONGEST_STEP = 2.0
_CLOSE = 1e-10


def fit(design: Any, wins: Any, totals: Any) -> Any:
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


def unit_weights(units: int, seed: int) -> Any:
    """Return how often each unit counts, a row a resample, after a first row of ones.

    There are 1,000 resamples of whole units; below ten units there is only the first row.
    """
    np = arrays()
    once = np.ones((1, units))
    if units < BOOTSTRAP_UNITS:
        return once
    counts = np.zeros((RESAMPLES, units))
    np.add.at(counts, (np.arange(RESAMPLES)[:, None], resampled(units, RESAMPLES, seed)), 1.0)
    return np.vstack([once, counts])
