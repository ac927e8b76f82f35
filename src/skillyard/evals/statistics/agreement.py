"""Agreement of judges with each other, with themselves and with people.

- Alpha: Krippendorff, Content Analysis, ch. 11, and "Computing Krippendorff's
  Alpha-Reliability" (2011), with the ordinal difference for scores of 1 to 5.
- Kappa: Cohen, Educational and Psychological Measurement 20 (1960) 37-46.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from math import fsum
from typing import NamedTuple

from skillyard.errors import InvalidInput
from skillyard.evals.statistics.intervals import wilson

__all__ = ["METRICS", "Agreement", "cohen_kappa", "krippendorff_alpha", "repeat_agreement", "share"]

METRICS = ("nominal", "ordinal", "interval")
"""The distance of two values: equal or not; by ranks; by their difference."""


class Agreement(NamedTuple):
    """So many agree of so many, with Wilson's 95 % interval."""

    agree: int
    of: int
    rate: float | None
    """0..1; None of nothing."""
    low: float
    high: float


def share(agree: int, of: int) -> Agreement:
    """Return a count of agreements with its rate and interval."""
    return Agreement(agree, of, agree / of if of else None, *wilson(agree, of))


def krippendorff_alpha(
    ratings: Sequence[Sequence[float | None]], metric: str = "ordinal"
) -> float | None:
    """Return alpha over items, each with one value a judge; None marks a missing value.

    1 is full agreement, 0 is chance, below 0 is worse than chance. Items with fewer than two values
    are ignored. The result is None if no items are left or all values are equal, because then
    chance agrees too. Raises InvalidInput for an unknown metric.
    """
    if metric not in METRICS:
        raise InvalidInput(f"unknown metric {metric!r}; known: {', '.join(METRICS)}")
    items = [[value for value in item if value is not None] for item in ratings]
    items = [item for item in items if len(item) > 1]
    totals = Counter(value for item in items for value in item)
    if len(totals) < 2:
        return None
    far = _distances(totals, metric)
    # Each pair of values in an item counts twice, and an item as often as it has values.
    observed = fsum(
        2 * far[min(one, other), max(one, other)] / (len(item) - 1)
        for item in items
        for one, other in combinations(item, 2)
    )
    expected = fsum(
        2 * totals[one] * totals[other] * far[one, other]
        for one, other in combinations(sorted(totals), 2)
    )
    return 1 - (sum(totals.values()) - 1) * observed / expected


def _distances(totals: Mapping[float, int], metric: str) -> dict[tuple[float, float], float]:
    """Return the squared difference of each pair of values, the smaller first."""
    values = sorted(totals)
    far = {(value, value): 0.0 for value in values}
    for (i, one), (j, other) in combinations(enumerate(values), 2):
        if metric == "nominal":
            far[one, other] = 1.0
        elif metric == "interval":
            far[one, other] = (other - one) ** 2
        else:
            ranks = sum(totals[value] for value in values[i : j + 1])
            far[one, other] = (ranks - (totals[one] + totals[other]) / 2) ** 2
    return far


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Return kappa of two raters' labels of the same items, in the same order.

    1 is full agreement, 0 is chance, given the label frequencies. The result is None without items,
    or if both raters used only one and the same label. Raises InvalidInput for unequal lengths.
    """
    if len(first) != len(second):
        raise InvalidInput(f"kappa needs one label each: {len(first)} against {len(second)}")
    count = len(first)
    agree = sum(one == other for one, other in zip(first, second, strict=True))
    ours, theirs = Counter(first), Counter(second)
    by_chance = sum(ours[label] * theirs[label] for label in ours)
    if by_chance == count * count:
        return None
    return (agree * count - by_chance) / (count * count - by_chance)


def repeat_agreement(verdicts: Mapping[Hashable, Sequence[Hashable]]) -> Agreement:
    """Return how often one judge repeats its verdict, over all pairs of verdicts on one item.

    The pairs of one item are dependent, so with more than two verdicts an item the interval is too
    narrow.
    """
    pairs = [pair for repeats in verdicts.values() for pair in combinations(repeats, 2)]
    return share(sum(one == other for one, other in pairs), len(pairs))
