"""Intervals of a mean: Student's t, and one that holds where rare prompts matter.

The t interval is right where values are spread like a bell, and nearly so for means of judges'
scores. A few prompts do not show what happens at every tenth: a skill that gains 0.3 points at most
requests and loses 2.7 at some looks like a gain in one of five samples of twelve. So a statement
also needs the second interval. It weighs each sorted value, and the end of the scale once, with the
gaps of as many uniform random numbers (Gaffke, Mathematical Methods of Statistics 14, 2005,
451-467; Learned-Miller & Thomas, arXiv 1905.06208), and assumes nothing of the distribution. The
end of the scale is what an answer can lose or gain at most against the scores that were seen.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from functools import lru_cache
from math import atan, cos, fsum, isfinite, pi, sin, sqrt
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command

FALSE_STATEMENTS = 0.05
"""The share of runs in which any statement about a skill may be false."""
RARE = 0.15
"""Each end of the interval for rare prompts errs in at most this share of runs, whatever the
values are like. At 0.05 it would find a difference of 0.8 points half as often at twelve prompts;
at 0.25 it would let a rare harm pass in every tenth run."""
MARGIN = 0.5
"""Points of the 1-5 scale: arms that differ by less are equivalent."""
LARGEST = 4.0
"""The largest difference of two scores from 1 to 5, in points."""
Interval = tuple[float, float]
_DRAWS = 4_000
"""Of random weights; fewer above a thousand values."""
_NUMBERS = 4_000_000
_MANY = 200
"""With more degrees of freedom the normal distribution stands in for Student's t."""


def arrays() -> Any:
    """Return the module numpy. Raises InvalidInput where it is not installed."""
    try:
        import numpy
    except ImportError:
        command = install_command("eval")
        raise InvalidInput(f"these statistics need numpy; install it with: {command}") from None
    return numpy


def spread_of(values: Sequence[float]) -> float:
    """Return the sample standard deviation (n - 1); 0.0 below two values."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


def t_share(t: float, freedom: int) -> float:
    """Return the chance of a Student's t farther from 0 than ``t``, in either direction.

    The finite sums of Abramowitz & Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    t = abs(t)
    if freedom > _MANY:
        z = t * (1 - 1 / (4 * freedom)) / sqrt(1 + t * t / (2 * freedom))
        return 2 * statistics.NormalDist().cdf(-z)
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for place in range(2 + odd, freedom - 1, 2):
        term *= (place - 1) / place * cos(angle) ** 2
        total += term
    inside = (angle + sin(angle) * total) * 2 / pi if odd else sin(angle) * total
    return max(0.0, 1 - inside)


@lru_cache(maxsize=256)
def t_quantile(share: float, freedom: int) -> float:
    """Return what Student's t exceeds with chance ``share``, below one half."""
    low, high = 0.0, 1.0
    while t_share(high, freedom) > 2 * share:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_share(middle, freedom) > 2 * share else (low, middle)
    return high


def t_interval(values: Sequence[float], share: float, *, skewed: bool = False) -> Interval | None:
    """Return the t interval of the mean, of which each end errs in ``share`` of samples.

    None below two values. A t interval misses the mean of ``skewed`` values more often on one side
    than on the other. Moving it towards their longer tail, by the first term of the expansion by
    skewness, evens that out (Chen, Journal of the American Statistical Association 90, 1995,
    767-772).
    """
    if not all(map(isfinite, values)):
        raise InvalidInput("an interval needs finite values")
    count = len(values)
    if count < 2:
        return None
    mean, spread = fsum(values) / count, spread_of(values)
    t, error, move = t_quantile(share, count - 1), spread / sqrt(count), 0.0
    if skewed and spread:
        skewness = fsum((value - mean) ** 3 for value in values) / count / spread**3
        move = skewness * (1 + 2 * t * t) / (6 * sqrt(count)) * error
    return mean + move - t * error, mean + move + t * error


def mean_interval(values: Sequence[float]) -> Interval | tuple[None, None]:
    """Return the 95 % interval of a mean for a figure beside a verdict; None where there is none.

    Values that are all equal have none: their spread says nothing about other prompts.
    """
    return (len(set(values)) > 1 and t_interval(values, 0.025)) or (None, None)


@lru_cache(maxsize=4_096)
def rare_intervals(
    values: tuple[float, ...], below: float = LARGEST, above: float = LARGEST
) -> tuple[Interval, Interval]:
    """Return two intervals that also hold where rare prompts matter, of at least one value.

    Each end of the first errs in at most ``RARE`` of samples, and of the second in at most 5 %.
    True values lie within ``-below`` and ``above``, or as far out as the widest of ``values``.
    """
    np = arrays()
    ordered = np.sort(np.array(values, dtype=float))
    weights = _gaps(len(values) + 1)
    places = [len(weights) - int(share * len(weights)) for share in (RARE, FALSE_STATEMENTS)]
    lows, highs = (
        np.partition(np.einsum("dv,v->d", weights, np.append(side, max(end, side[-1]))), places)[
            places
        ].tolist()
        for side, end in ((-ordered[::-1], below), (ordered, above))
    )
    return (-lows[0], highs[0]), (-lows[1], highs[1])


@lru_cache(maxsize=4)
def _gaps(count: int) -> Any:
    """Return rows of gaps between sorted uniform numbers, which add up to 1.

    The bits are Python's own Mersenne twister, whose stream is the same on every version; numpy
    does not promise that of its generators.
    """
    np = arrays()
    rows = max(200, min(_DRAWS, _NUMBERS // count))
    bits = np.frombuffer(random.Random(1).randbytes(4 * rows * count), dtype="<u4")
    exponential = -np.log((bits.reshape(rows, count) + 0.5) / 2**32)
    return exponential / exponential.sum(axis=1, keepdims=True)
