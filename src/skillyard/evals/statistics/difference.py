"""The difference of two results from different times, from their summaries alone."""

from __future__ import annotations

from math import hypot, isfinite, sqrt
from statistics import NormalDist
from typing import NamedTuple

from skillyard.errors import InvalidInput
from skillyard.evals.statistics.intervals import LEVEL, wilson
from skillyard.evals.statistics.scientific import special

__all__ = ["Difference", "mean_difference", "rate_difference"]


class Difference(NamedTuple):
    """A later value minus an earlier one. The ends are None if the spread is unknown."""

    change: float
    low: float | None
    high: float | None
    p: float | None
    """Two-sided."""


def mean_difference(
    before: tuple[float, float, int], after: tuple[float, float, int], *, level: float = LEVEL
) -> Difference:
    """Return the difference of two means, each given as (mean, standard deviation, n).

    Welch's t with the Welch–Satterthwaite degrees of freedom (Biometrika 34, 1947). Without
    spread, or with fewer than two values on a side, there is no interval. Raises InvalidInput for
    figures that are not finite, and where scipy is not installed.
    """
    (mean_1, spread_1, n_1), (mean_2, spread_2, n_2) = before, after
    if not all(map(isfinite, (mean_1, spread_1, mean_2, spread_2))):
        raise InvalidInput("a difference needs finite means and spreads")
    change = mean_2 - mean_1
    if min(n_1, n_2) < 2:
        return Difference(change, None, None, None)
    error_1, error_2 = spread_1 / sqrt(n_1), spread_2 / sqrt(n_2)
    error = hypot(error_1, error_2)
    if not error:
        return Difference(change, None, None, None)
    # The published quotient, with both variances over their sum: neither end of the range of
    # floats is reached by squares of squares.
    part_1, part_2 = (error_1 / error) ** 2, (error_2 / error) ** 2
    freedom = 1 / (part_1**2 / (n_1 - 1) + part_2**2 / (n_2 - 1))
    half = error * float(special().stdtrit(freedom, (1 + level) / 2))
    p = 2 * float(special().stdtr(freedom, -abs(change) / error))
    return Difference(change, change - half, change + half, min(1.0, p))


def rate_difference(
    before: tuple[float, int], after: tuple[float, int], *, level: float = LEVEL
) -> Difference:
    """Return the difference of two shares, each given as (share, n).

    The interval is made of both Wilson intervals (Newcombe, Statistics in Medicine 17, 1998,
    method 10), p of the pooled normal test. Raises InvalidInput for a share outside 0..1.
    """
    (share_1, n_1), (share_2, n_2) = before, after
    if not (0 <= share_1 <= 1 and 0 <= share_2 <= 1):
        raise InvalidInput("a share lies between 0 and 1")
    change = share_2 - share_1
    if min(n_1, n_2) < 1:
        return Difference(change, None, None, None)
    low_1, high_1 = wilson(round(share_1 * n_1), n_1, level)
    low_2, high_2 = wilson(round(share_2 * n_2), n_2, level)
    low = change - sqrt((share_2 - low_2) ** 2 + (high_1 - share_1) ** 2)
    high = change + sqrt((high_2 - share_2) ** 2 + (share_1 - low_1) ** 2)
    pooled = (share_1 * n_1 + share_2 * n_2) / (n_1 + n_2)
    error = sqrt(pooled * (1 - pooled) * (1 / n_1 + 1 / n_2))
    p = 2 * NormalDist().cdf(-abs(change) / error) if error else 1.0
    return Difference(change, max(-1.0, low), min(1.0, high), min(1.0, p))
