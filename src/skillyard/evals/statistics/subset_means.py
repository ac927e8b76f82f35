"""The interval of a mean from the means of subsets, and the sign-flip test that belongs to it.

If the values are independent and each is symmetric around the true mean, the means of all subsets
but the empty one cut the line into 2**n pieces that hold the true mean with equal chance (Hartigan,
"Using subsample values as typical values", JASA 64, 1969, 1303-1317). No normal distribution is
assumed, and few values give no interval instead of one that is too narrow. The interval holds
exactly the means that the sign-flip test (Fisher, The Design of Experiments, 1935, section 21) does
not reject, so an interval and a p-value from here never contradict each other.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, fsum, isfinite
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.evals.statistics.scientific import arrays, random_rows

EXACT = 15
"""Up to so many values all subsets are taken."""
PIECES = 10_000
"""Pieces of the line from random subsets, for more values."""
_PIECES_IN_A_TAIL = 10
"""Random subsets are added until a tail of the interval has so many pieces."""
_EQUAL = 1e-9
"""Sums that are equal on paper differ by this share of their size at most."""


@dataclass(frozen=True, slots=True)
class SubsetMeans:
    """The subset means of one set of values."""

    means: Any
    """A numpy array, in no order."""
    pieces: int
    """Into so many pieces of equal chance the means cut the line."""
    tolerance: float
    """Means that are this near are equal."""

    def interval(self, level: float) -> tuple[float, float] | None:
        """Return the interval that holds the true mean with chance ``level``, 0..1.

        None where so few values cannot give one.
        """
        np = arrays()
        spare = self.pieces - 1 - len(self.means)  # empty random subsets lie beyond both ends
        place = int((1 - level) / 2 * self.pieces * (1 + 1e-12)) - spare
        if place < 1:
            return None
        ends = np.partition(self.means, (place - 1, len(self.means) - place))
        return float(ends[place - 1]), float(ends[len(self.means) - place])

    def p_value(self, mean: float = 0.0) -> float:
        """Return the two-sided p of the sign-flip test that the true mean is ``mean``."""
        np = arrays()
        spare = self.pieces - len(self.means)
        below = int(np.count_nonzero(self.means <= mean + self.tolerance)) + spare
        above = int(np.count_nonzero(self.means >= mean - self.tolerance)) + spare
        return min(1.0, 2 * min(below, above) / self.pieces)


def smallest_p(values: int) -> float:
    """Return the smallest two-sided p that so many values can reach: 2 / 2**n."""
    return min(1.0, 2.0 ** (1 - values))


def subset_means(values: Sequence[float], seed: int, *, level: float = 0.95) -> SubsetMeans:
    """Return the subset means of at least one value.

    Up to 15 values they are exact. Above, they come from seeded random subsets, at least 10,000 and
    enough for an interval of ``level``. The order of the values does not matter, and negated values
    give the negated means. Raises InvalidInput for a value that is not finite.
    """
    if not all(map(isfinite, values)):
        raise InvalidInput("an interval needs finite values")
    np = arrays()
    ordered, sign = _oriented(values)
    tolerance = _EQUAL * fsum(map(abs, ordered)) / len(ordered)
    if len(ordered) <= EXACT:
        sums, sizes = _all_sums(ordered), _all_sizes(len(ordered))
        return SubsetMeans(_within(values, sign * (sums / sizes)), len(sums) + 1, tolerance)
    pieces = max(PIECES, ceil(2 * _PIECES_IN_A_TAIL / (1 - level)))
    means = [
        np.einsum("sv,v->s", members, np.array(ordered)) / members.sum(axis=1)
        for members in random_rows(_subsets, len(ordered), pieces - 1, seed)
    ]
    return SubsetMeans(_within(values, sign * np.concatenate(means)), pieces, tolerance)


def _within(values: Sequence[float], means: Any) -> Any:
    """Return the means without those hairs by which rounding passes the values themselves."""
    return arrays().clip(means, min(values), max(values))


def _oriented(values: Sequence[float]) -> tuple[list[float], int]:
    """Return the values sorted, negated where that makes the list the larger of the two."""
    upward, downward = sorted(values), sorted(-value for value in values)
    return (upward, 1) if (fsum(upward), upward) >= (fsum(downward), downward) else (downward, -1)


def _all_sums(values: Sequence[float]) -> Any:
    np = arrays()
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate((sums, sums + value))
    return sums[1:]


@lru_cache(maxsize=EXACT)
def _all_sizes(count: int) -> Any:
    return _all_sums([1.0] * count)


def _subsets(rng: random.Random, count: int, rows: int) -> Any:
    """Return rows of zeros and ones, a row a subset without the empty ones."""
    np = arrays()
    width = -(-count // 8)
    drawn = np.frombuffer(rng.randbytes(rows * width), dtype=np.uint8)
    members = np.unpackbits(drawn.reshape(rows, width), axis=1)[:, :count]
    return members[members.any(axis=1)].astype(float)
