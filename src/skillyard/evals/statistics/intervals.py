"""Intervals of means over independent units, and of shares.

- Student's t over the means of the units, with units - 1 degrees of freedom: the average of each
  cluster is one observation (Miller 2024, arXiv 2411.00640).
- BCa bootstrap: Efron, "Better bootstrap confidence intervals", JASA 82 (1987) 171-185. Its tails
  are widened as in the "expanded percentile" interval of Hesterberg, The American Statistician 69
  (2015) 371-386: without that a bootstrap over 10 units is too narrow by sqrt((n-1)/n) and takes
  normal tails where t tails belong.
- Wilson's score interval: Wilson, JASA 22 (1927) 209-212.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import fsum, isfinite, sqrt
from statistics import NormalDist
from typing import NamedTuple, TypeVar

from skillyard.errors import InvalidInput
from skillyard.evals.statistics.scientific import arrays, resampled, special

__all__ = [
    "BOOTSTRAP",
    "BOOTSTRAP_UNITS",
    "LEVEL",
    "ONE_PROMPT",
    "STUDENT",
    "TOO_FEW",
    "Interval",
    "bca_interval",
    "independent",
    "mean_interval",
    "mean_of",
    "spread_of",
    "t_interval",
    "wilson",
]

Unit = TypeVar("Unit", bound=Hashable)

LEVEL = 0.95
"""The share of intervals that should hold the true value."""
BOOTSTRAP_UNITS = 10
"""From so many units on the bootstrap is used: below, t holds its level and a bootstrap does not
(measured for the percentile bootstrap: 0.84 at 5 units)."""
RESAMPLES = 5_000
STUDENT = "t over prompts"
BOOTSTRAP = "BCa bootstrap over prompts"
ONE_PROMPT = "t over runs, this prompt only"
TOO_FEW = "none: needs two values"
_SAME = 1e-12
"""Values that differ by less than this share of their size differ by rounding only."""
_NOTHING = 1e-100
"""Differences below this vanish when they are squared."""


class Interval(NamedTuple):
    """A mean over units, each counted once whatever its number of values."""

    mean: float | None
    """None without values."""
    low: float | None
    """None where the spread cannot be estimated."""
    high: float | None
    method: str
    """One of the words of this module."""
    units: int
    n: int
    """Values, over all units."""
    spread: float | None
    """Sample standard deviation of what was counted as independent: unit means, or the runs of a
    single unit. None below two of them."""


def mean_of(values: Sequence[float]) -> float:
    """Return the mean of at least one value; the order of the values does not matter."""
    return fsum(values) / len(values)


def spread_of(values: Sequence[float]) -> float:
    """Return the sample standard deviation (n - 1); 0.0 below two values."""
    if len(values) < 2 or min(values) == max(values):
        return 0.0
    mean = mean_of(values)
    return sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def mean_interval(
    values_by_unit: Mapping[Unit, Sequence[float]], seed: int, *, level: float = LEVEL
) -> Interval:
    """Return the mean over units with its interval; the method depends on the number of units.

    One unit: t over its runs, valid for that prompt only. 2 to 9 units: t over unit means. 10 and
    more: BCa bootstrap over units. Units without values are ignored. Raises InvalidInput for a
    value that is not finite.
    """
    values = independent(values_by_unit)
    units = sum(bool(values_of_unit) for values_of_unit in values_by_unit.values())
    n = sum(map(len, values_by_unit.values()))
    mean = mean_of(values) if values else None
    if len(values) < 2:
        return Interval(mean, None, None, TOO_FEW, units, n, None)
    if units >= BOOTSTRAP_UNITS:
        method, (low, high) = BOOTSTRAP, bca_interval(values, seed, level=level)
    else:
        method = ONE_PROMPT if units == 1 else STUDENT
        low, high = t_interval(values, level=level)
    return Interval(mean, low, high, method, units, n, spread_of(values))


def independent(values_by_unit: Mapping[Unit, Sequence[float]]) -> list[float]:
    """Return what counts as one observation each: the unit means, or a single unit's values.

    Raises InvalidInput for a value that is not finite.
    """
    units = [values for values in values_by_unit.values() if values]
    if not all(isfinite(value) for values in units for value in values):
        raise InvalidInput("means and tests need finite values")
    return list(units[0]) if len(units) == 1 else [mean_of(values) for values in units]


def t_interval(values: Sequence[float], *, level: float = LEVEL) -> tuple[float, float]:
    """Return mean -+ t * s / sqrt(n) of at least two independent values."""
    count = len(values)
    quantile = float(special().stdtrit(count - 1, (1 + level) / 2))
    mean, half = mean_of(values), quantile * spread_of(values) / sqrt(count)
    return mean - half, mean + half


def bca_interval(
    values: Sequence[float], seed: int, *, level: float = LEVEL, expanded: bool = True
) -> tuple[float, float]:
    """Return the bootstrap interval of the mean of at least two independent values.

    ``expanded=False`` gives Efron's interval as published. The order of the values does not
    matter, and the interval of the negated values is the negated interval, to the last bit.
    """
    ordered, sign = _oriented(values)
    if ordered[-1] - ordered[0] <= _SAME * max(map(abs, ordered)) + _NOTHING:
        mean = mean_of(ordered) * sign
        return mean, mean
    low, high = _bca(ordered, seed, _deviate(len(ordered), level, expanded))
    return (low, high) if sign > 0 else (-high, -low)


def _oriented(values: Sequence[float]) -> tuple[list[float], int]:
    """Return the values sorted, negated where that makes the list the larger of the two."""
    upward, downward = sorted(values), sorted(-value for value in values)
    return (upward, 1) if (fsum(upward), upward) >= (fsum(downward), downward) else (downward, -1)


def _deviate(count: int, level: float, expanded: bool) -> float:
    tail = (1 + level) / 2
    if not expanded:
        return float(special().ndtri(tail))
    return float(special().stdtrit(count - 1, tail)) * sqrt(count / (count - 1))


def _bca(ordered: Sequence[float], seed: int, deviate: float) -> tuple[float, float]:
    np, functions = arrays(), special()
    values = np.array(ordered)
    count = len(ordered)
    mean = mean_of(ordered)
    means = np.sort(values[resampled(count, RESAMPLES, seed)].mean(axis=1))
    near = _SAME * max(abs(ordered[0]), abs(ordered[-1]))
    below = np.count_nonzero(means < mean - near)
    equal = np.count_nonzero(means <= mean + near) - below
    bias = functions.ndtri((below + equal / 2) / RESAMPLES)
    apart = (values - mean) / (count - 1)
    skew = (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
    shifts = (bias - deviate, bias + deviate)
    tails = [functions.ndtr(bias + shift / (1 - skew * shift)) for shift in shifts]
    low, high = np.quantile(means, tails)
    # Between two resampled means the interpolated end may pass the mean itself by a hair.
    return min(float(low), mean), max(float(high), mean)


def wilson(successes: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the score interval of a share, both ends in 0..1; (0, 1) without trials.

    Raises InvalidInput unless 0 <= successes <= n. Needs no library.
    """
    if not 0 <= successes <= n:
        raise InvalidInput(f"a share needs 0 <= successes <= n, not {successes} of {n}")
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # The ends are exactly 0 and 1 there; rounding would leave them a hair beside.
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == n else middle + half
    return low, high
