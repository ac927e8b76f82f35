"""How many requests show that a rate is above a bound: exact binomial power of Wilson's interval.

Wilson's interval inverts the score test (JASA 22, 1927, 209-212). So its lower end is above a bound
b exactly if more than n*b + z*sqrt(n*b*(1-b)) of n requests succeed, and the chance of that is a
binomial tail. It is not estimated by a normal distribution, which is wrong near 0 and 1.
"""

from __future__ import annotations

from functools import cache
from math import floor, sqrt
from statistics import NormalDist

from skillyard.evals.statistics.intervals import LEVEL
from skillyard.evals.statistics.power import MAX_UNITS, POWER
from skillyard.evals.statistics.scientific import special

__all__ = ["chance_above", "least_for_rate", "requests_for_rate"]

_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


def chance_above(rate: float, bound: float, requests: int) -> float:
    """Return the chance, 0..1, that the interval of ``requests`` requests lies above ``bound``.

    ``rate`` is the true rate, and the bound is between 0 and 1. At a rate equal to the bound, it is
    the chance of a false statement. Raises InvalidInput where scipy is not installed.
    """
    successes = _successes_needed(bound, requests)
    if successes > requests:
        return 0.0
    return float(special().bdtrc(successes - 1, requests, rate))


def least_for_rate(bound: float) -> int | None:
    """Return the fewest requests whose interval can lie above ``bound``; None above 10,000."""
    counts = range(1, MAX_UNITS + 1)
    return next((count for count in counts if _successes_needed(bound, count) <= count), None)


@cache
def requests_for_rate(rate: float, bound: float) -> int | None:
    """Return from how many requests on a true ``rate`` is shown to be above ``bound`` 4 times in 5.

    A few requests more can show less, because successes are whole numbers. From this number on
    every larger one up to 10,000 is enough. None where 10,000 are not.
    """
    if rate <= bound:
        return None
    counts = range(MAX_UNITS, 0, -1)
    short = next((count for count in counts if chance_above(rate, bound, count) < POWER), 0)
    return short + 1 if short < MAX_UNITS else None


def _successes_needed(bound: float, requests: int) -> int:
    return floor(requests * bound + _Z * sqrt(requests * bound * (1 - bound))) + 1
