"""Means, their spread and t interval, and partial pooling.

- Student's t over the means of the units, with units - 1 degrees of freedom: the average of each
  cluster is one observation (Miller 2024, arXiv 2411.00640). It shows how precise a figure is;
  verdicts are decided by :mod:`skillyard.evals.statistics.subset_means`.
- Partial pooling: a mean of few prompts that lies far from the others is more likely to be luck
  than one of many. The variance between skills is that of DerSimonian & Laird (Controlled Clinical
  Trials 7, 1986, 177-188); each mean is then the weighted mean of its own value and the library's
  (Efron & Morris, JASA 70, 1975, 311-319).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import fsum, isfinite, sqrt
from typing import TypeVar

from skillyard.base.errors import InvalidInput
from skillyard.evals.statistics.scientific import special

Unit = TypeVar("Unit", bound=Hashable)

LEVEL = 0.95
"""The share of intervals that should hold the true value."""


def mean_of(values: Sequence[float]) -> float:
    """Return the mean of at least one value; the order of the values does not matter."""
    return fsum(values) / len(values)


def spread_of(values: Sequence[float]) -> float:
    """Return the sample standard deviation (n - 1); 0.0 below two values."""
    if len(values) < 2 or min(values) == max(values):
        return 0.0
    mean = mean_of(values)
    return sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


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


def shrunken_means(values_by_skill: Sequence[Sequence[float]]) -> list[float]:
    """Return the shrunken mean of each skill, from at least one value a skill.

    The variance between prompts is taken as the same in all skills. Where it is 0 or unknown, or
    with a single skill, the means stay as they are.
    """
    means = [fsum(values) / len(values) for values in values_by_skill]
    freedom = sum(len(values) - 1 for values in values_by_skill)
    squares = fsum(
        (value - mean) ** 2
        for values, mean in zip(values_by_skill, means, strict=True)
        for value in values
    )
    if len(means) < 2 or not freedom or not squares:
        return means
    variances = [squares / freedom / len(values) for values in values_by_skill]
    if not min(variances):
        return means  # the spread is too small for a float
    between = _variance_between(means, variances)
    library = _weighted_mean(means, [variance + between for variance in variances])
    return [
        mean + (library - mean) * (variance / (between + variance))
        for mean, variance in zip(means, variances, strict=True)
    ]


def _variance_between(means: Sequence[float], variances: Sequence[float]) -> float:
    # All weights are relative to the largest, so that squares of small variances do not vanish.
    least = min(variances)
    weights = [least / variance for variance in variances]
    total = fsum(weights)
    middle = _weighted_mean(means, variances)
    apart = fsum(weight * (mean - middle) ** 2 for weight, mean in zip(weights, means, strict=True))
    scale = total - fsum(weight**2 for weight in weights) / total
    return max(0.0, (apart - least * (len(means) - 1)) / scale)


def _weighted_mean(values: Sequence[float], variances: Sequence[float]) -> float:
    """Return the mean with weights that are the reciprocals of the variances."""
    least = min(variances)
    weights = [least / variance for variance in variances]
    products = (value * weight for value, weight in zip(values, weights, strict=True))
    return fsum(products) / fsum(weights)
