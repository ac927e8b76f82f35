"""Intervals of a mean: from the means of subsets, and one that holds where rare prompts matter.

If the values are independent and each is symmetric around the true mean, the means of all subsets
but the empty one cut the line into 2**n pieces that hold the true mean with equal chance (Hartigan,
"Using subsample values as typical values", JASA 64, 1969, 1303-1317). No normal distribution is
assumed, and few values give no interval instead of one that is too narrow. The interval holds
exactly the means that the sign-flip test (Fisher, The Design of Experiments, 1935, section 21) does
not reject, so an interval and a p-value from here never contradict each other.

That a few prompts show no difference does not prove that there is none: a skill that gains four
points at every tenth prompt gains nothing at six prompts in most runs. The bounded interval weighs
each sorted value, and the end of the scale once, with the gaps of as many uniform random numbers
(Gaffke, Mathematical Methods of Statistics 14, 2005, 451-467; Learned-Miller & Thomas, arXiv
1905.06208). It assumes independent values and nothing of their distribution.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, fsum, isfinite
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command

LEVEL = 0.95
"""The share of intervals that should hold the true value."""
FALSE_STATEMENTS = 0.05
"""The share of runs in which any interval of a comparison may miss the true difference."""
MARGIN = 0.3
"""Points of the 1-5 scale: arms that differ by less are equivalent."""
EXACT = 15
"""Up to so many values all subsets are taken."""
DRAWS = 10_000
"""Random subsets, or random weights, at least."""
_DRAWS_IN_A_TAIL = 20
"""More are drawn until both tails of the interval together have so many."""
LARGEST = 4.0
"""The largest difference of two scores from 1 to 5, in points."""
_EQUAL = 1e-9
"""Sums that are equal on paper differ by this share of their size at most."""
_NUMBERS_AT_ONCE = 4_000_000


def arrays() -> Any:
    """Return the module numpy. Raises InvalidInput where it is not installed."""
    try:
        import numpy
    except ImportError:
        command = install_command("eval")
        raise InvalidInput(f"these statistics need numpy; install it with: {command}") from None
    return numpy


def level_for(tests: int) -> float:
    """Return the level of each interval so that so many hold together (Bonferroni)."""
    return 1 - FALSE_STATEMENTS / max(1, tests)


def spread_of(values: Sequence[float]) -> float:
    """Return the sample standard deviation (n - 1); 0.0 below two values."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


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


def subset_means(values: Sequence[float], seed: int, *, level: float = LEVEL) -> SubsetMeans:
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
        means = _all_sums(ordered) / _all_sums([1.0] * len(ordered))
        pieces = len(means) + 1
    else:
        pieces = max(DRAWS, ceil(_DRAWS_IN_A_TAIL / (1 - level)))
        rng = random.Random(seed)
        found = []
        for rows in _some_rows(pieces - 1, len(ordered)):
            members = _subsets(rng, len(ordered), rows)
            found.append(np.einsum("sv,v->s", members, np.array(ordered)) / members.sum(axis=1))
        means = np.concatenate(found)
    # Rounding may pass the values themselves by a hair.
    return SubsetMeans(np.clip(sign * means, min(values), max(values)), pieces, tolerance)


def bounded_interval(values: Sequence[float], seed: int, *, level: float) -> tuple[float, float]:
    """Return the interval that holds the true mean with chance ``level``, of at least one value.

    The true values lie within -4..4, or as far out as the widest of ``values``.
    """
    np = arrays()
    largest = max(LARGEST, *map(abs, values))
    draws = max(DRAWS, ceil(2 * _DRAWS_IN_A_TAIL / (1 - level)))
    ordered = np.sort(np.array(values, dtype=float))
    sides = np.append(-ordered[::-1], largest), np.append(ordered, largest)
    rng = random.Random(seed)
    rows = []
    for some in _some_rows(draws, len(values) + 1):
        weights = _gaps(rng, len(values) + 1, some)
        rows.append([np.einsum("dv,v->d", weights, side) for side in sides])
    low, high = (np.concatenate(side) for side in zip(*rows, strict=True))
    place = draws - int((1 - level) / 2 * draws)
    return -float(np.partition(low, place)[place]), float(np.partition(high, place)[place])


def mean_interval(values: Sequence[float], seed: int) -> tuple[float, float] | tuple[None, None]:
    """Return the 95 % interval of a mean for a figure beside a verdict; None where there is none.

    Values that are all equal have none: their spread says nothing about other prompts.
    """
    if len(set(values)) < 2:
        return None, None
    return subset_means(values, seed).interval(LEVEL) or (None, None)


def random_places(seed: int | str, draws: int, count: int) -> Any:
    """Return ``draws`` positions from 0 to count - 1.

    A position is the high word of a 32-bit number times ``count``, so no position is likelier than
    another by more than count / 2**32. The bits are Python's own Mersenne twister, whose stream is
    the same on every version; numpy does not promise that of its generators.
    """
    np = arrays()
    bits = np.frombuffer(random.Random(seed).randbytes(4 * draws), dtype="<u4")
    return (bits.astype(np.uint64) * np.uint64(count) >> np.uint64(32)).astype(np.int64)


def _some_rows(rows: int, width: int) -> Iterator[int]:
    """Yield how many rows of random numbers to make at a time, so that they take little memory."""
    at_once = max(4, _NUMBERS_AT_ONCE // width)
    for start in range(0, rows, at_once):
        yield min(at_once, rows - start)


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


def _subsets(rng: random.Random, count: int, rows: int) -> Any:
    """Return rows of zeros and ones, a row a subset without the empty ones."""
    np = arrays()
    width = -(-count // 8)
    drawn = np.frombuffer(rng.randbytes(rows * width), dtype=np.uint8)
    members = np.unpackbits(drawn.reshape(rows, width), axis=1)[:, :count]
    return members[members.any(axis=1)].astype(float)


def _gaps(rng: random.Random, count: int, rows: int) -> Any:
    """Return rows of gaps between sorted uniform numbers, which add up to 1."""
    np = arrays()
    bits = np.frombuffer(rng.randbytes(4 * rows * count), dtype="<u4")
    exponential = -np.log((bits.reshape(rows, count) + 0.5) / 2**32)
    return exponential / exponential.sum(axis=1, keepdims=True)
