"""The sign-flip test: is a mean of paired differences further from zero than chance explains.

If neither side is better, each difference is equally likely with the opposite sign. So the test
compares the sum with the sums under all sign patterns (Fisher, The Design of Experiments, 1935,
section 21). It assumes no distribution of the differences.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import fsum, isfinite

from skillyard.errors import InvalidInput
from skillyard.evals.statistics.scientific import arrays

__all__ = ["EXACT", "FLIPS", "sign_flip", "smallest_p"]

EXACT = 15
"""Up to so many differences other than zero every one of the 2**n sign patterns is tried."""
FLIPS = 10_000
"""Random sign patterns tried for more."""
_AT_ONCE = 1_000_000
"""Signs held in memory at one time."""


def smallest_p(differences: int) -> float:
    """Return the smallest possible p for this number of differences: 2 / 2**n at best."""
    if differences <= EXACT:
        return 2.0 ** (1 - differences) if differences else 1.0
    return 1 / (FLIPS + 1)


def sign_flip(differences: Sequence[float], seed: int) -> float:
    """Return the two-sided p of the sign-flip test, above 0 and at most 1.

    Differences of zero are ignored; without others the result is 1. Exact up to 15 differences,
    above by 10,000 seeded random patterns, with the observed one counted among them (Phipson &
    Smyth 2010), so p is never 0. The result does not depend on the order of the differences or on
    their common sign. Raises InvalidInput for a value that is not finite.
    """
    if not all(map(isfinite, differences)):
        raise InvalidInput("a sign-flip test needs finite differences")
    sizes = sorted(abs(value) for value in differences if value)
    if not sizes:
        return 1.0
    # Sums that are equal on paper differ in their last bits: they count as equal.
    reach = abs(fsum(differences)) - 1e-9 * fsum(sizes)
    if len(sizes) <= EXACT:
        return _all_patterns(sizes, reach)
    return _random_patterns(sizes, reach, seed)


def _all_patterns(sizes: Sequence[float], reach: float) -> float:
    # A pattern and its mirror image have the same distance from zero, so one sign stays fixed.
    sums = [sizes[0]]
    for size in sizes[1:]:
        sums = [total + size for total in sums] + [total - size for total in sums]
    return sum(abs(total) >= reach for total in sums) / len(sums)


def _random_patterns(sizes: Sequence[float], reach: float, seed: int) -> float:
    np = arrays()
    values = np.array(sizes)
    rng = random.Random(seed)
    width = -(-len(sizes) // 8)
    rows = max(1, _AT_ONCE // (8 * width))
    extreme = 0
    for start in range(0, FLIPS, rows):
        count = min(rows, FLIPS - start)
        random_bytes = np.frombuffer(rng.randbytes(count * width), dtype=np.uint8).reshape(
            count, width
        )
        bits = np.unpackbits(random_bytes, axis=1)[:, : len(sizes)]
        sums = np.einsum("ro,o->r", 2.0 * bits - 1.0, values)
        extreme += int(np.count_nonzero(np.abs(sums) >= reach))
    return (extreme + 1) / (FLIPS + 1)
