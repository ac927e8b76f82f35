"""Sums of floats that are equal on every version of Python, and the interval of a share.

``sum`` of CPython 3.12 and later compensates for rounding, so its last digits differ from 3.11.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

from skillyard.base.errors import InvalidInput


def stable_sum(values: Iterable[float]) -> float:
    """Return the sum of the values, added in order without compensation; 0.0 for none."""
    total = 0.0
    for value in values:
        total += value
    return total


def wilson(successes: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % score interval of a share, both ends in 0..1; (0, 1) without trials.

    Wilson, JASA 22 (1927) 209-212.

    A trial that succeeds in part counts as a part of a success. Raises InvalidInput unless
    0 <= successes <= n.
    """
    if not 0 <= successes <= n:
        raise InvalidInput(f"a share needs 0 <= successes <= n, not {successes} of {n}")
    if n == 0:
        return 0.0, 1.0
    from statistics import NormalDist  # deferred: a query adds up too

    z = NormalDist().inv_cdf(0.975)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # The ends are exactly 0 and 1 there; rounding would leave them a hair beside.
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == n else middle + half
    return low, high
