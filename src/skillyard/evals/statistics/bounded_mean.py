"""An interval of the mean that also holds where rare prompts matter: of values on a bounded scale.

That a few prompts show no difference does not prove that there is none: a skill that gains four
points at every tenth prompt gains nothing at six prompts in most runs. The interval here weighs
each sorted value, and the end of the scale once, with the gaps of as many uniform random numbers
(Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
variable, Mathematical Methods of Statistics 14, 2005, 451-467; Learned-Miller & Thomas, A new
confidence interval for the mean of a bounded random variable, arXiv 1905.06208). It assumes
independent values and nothing of their distribution.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import ceil
from typing import Any

from skillyard.evals.statistics.scientific import arrays, random_rows

LARGEST = 4.0
"""The largest difference of two scores from 1 to 5, in points."""
DRAWS = 10_000
_DRAWS_IN_A_TAIL = 20


def bounded_interval(values: Sequence[float], seed: int, *, level: float) -> tuple[float, float]:
    """Return the interval that holds the true mean with chance ``level``, of at least one value.

    The true values lie within -4..4, or as far out as the widest of ``values``.
    """
    np = arrays()
    largest = max(LARGEST, *map(abs, values))
    draws = max(DRAWS, ceil(2 * _DRAWS_IN_A_TAIL / (1 - level)))
    ordered = np.sort(np.array(values, dtype=float))
    upward, downward = np.append(ordered, largest), np.append(-ordered[::-1], largest)
    rows = [
        (np.einsum("dv,v->d", weights, downward), np.einsum("dv,v->d", weights, upward))
        for weights in random_rows(_gaps, len(values) + 1, draws, seed)
    ]
    low, high = (np.concatenate(side) for side in zip(*rows, strict=True))
    place = draws - int((1 - level) / 2 * draws)
    return -float(np.partition(low, place)[place]), float(np.partition(high, place)[place])


def _gaps(rng: random.Random, count: int, rows: int) -> Any:
    """Return rows of gaps between sorted uniform numbers, which add up to 1."""
    np = arrays()
    bits = np.frombuffer(rng.randbytes(4 * rows * count), dtype="<u4")
    exponential = -np.log((bits.reshape(rows, count) + 0.5) / 2**32)
    return exponential / exponential.sum(axis=1, keepdims=True)
