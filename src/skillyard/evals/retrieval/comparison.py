"""Compares two runs: measures by name, intervals, and a paired test.

Intervals are percentile bootstraps over queries (Efron & Tibshirani 1993, ch. 13). The test flips
the signs of the paired differences (Smucker, Allan & Carterette, CIKM 2007). Seeds are fixed, so
equal runs give equal figures.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from math import inf, log2
from typing import NamedTuple

from skillyard.errors import InvalidInput
from skillyard.evals.retrieval.measures import RIGHT, BenchQuery, RankedAnswer

__all__ = ["MEASURES", "MeasureComparison", "compare", "interval", "per_query"]

MEASURES = ("hit@1", "mrr@10", "ndcg@10", "recall@10")
"""The default measures."""
DRAWS = 2_000
FLIPS = 10_000
SEED = 20_261_121
_NAME = re.compile(r"(ndcg|p|precision|r|recall|mrr|hit|success)@([1-9]\d{0,3})", re.IGNORECASE)
_SAME = {"precision": "p", "r": "recall", "success": "hit"}


class MeasureComparison(NamedTuple):
    """One measure of two runs over the same answerable queries."""

    measure: str
    first: float
    second: float
    difference: float
    """Second less first: above zero the second run is better."""
    low: float
    high: float
    """The 95 % interval of the difference."""
    p: float
    """The chance of a difference at least as far from zero if the runs were exchangeable."""
    better: int
    worse: int
    same: int
    """Queries."""

    @property
    def regressed(self) -> bool:
        """True when the second run is worse by more than chance explains."""
        return self.high < 0


def _measure(name: str) -> Callable[[Sequence[str], Mapping[str, int]], float]:
    match = _NAME.fullmatch(name)
    if match is None:
        raise InvalidInput(f"unknown measure {name!r}: write nDCG@10, P@1, R@10, MRR@10 or hit@1")
    kind, depth = match[1].lower(), int(match[2])
    kind = _SAME.get(kind, kind)

    def value(ids: Sequence[str], relevant: Mapping[str, int]) -> float:
        return _value(kind, depth, ids, relevant)

    return value


def _value(kind: str, depth: int, ids: Sequence[str], relevant: Mapping[str, int]) -> float:
    grades = [relevant.get(key, 0) for key in ids[:depth]]
    hits = [grade >= RIGHT for grade in grades]
    if kind == "ndcg":
        ideal = sorted(relevant.values(), reverse=True)[:depth]
        return _gain(grades) / _gain(ideal)
    if kind == "p":
        return sum(hits) / depth
    if kind == "recall":
        right = sum(grade >= RIGHT for grade in relevant.values())
        return sum(hits) / min(right, depth)
    first = next((place for place, hit in enumerate(hits, 1) if hit), 0)
    if kind == "mrr":
        return 1 / first if first else 0.0
    return float(first > 0)


def _gain(grades: Sequence[int]) -> float:
    total = 0.0
    for place, grade in enumerate(grades, 1):
        total += (2**grade - 1) / log2(place + 1)
    return total


def per_query(
    queries: Sequence[BenchQuery], run: Mapping[str, RankedAnswer], measure: str
) -> dict[str, float]:
    """Return the value of one measure by query id, answerable queries only.

    Measures by name, case ignored: ``nDCG@k`` (gain ``2**grade - 1``), ``P@k``, ``R@k`` (of the
    right ones, at most as many as fit), ``MRR@k``, ``hit@k``. Raises InvalidInput for others.
    """
    value = _measure(measure)
    nothing = RankedAnswer((), -inf)
    return {
        query.id: value(run.get(query.id, nothing).ids, query.relevant)
        for query in queries
        if query.answerable
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the mean; (0, 0) without values."""
    if not values:
        return 0.0, 0.0
    rng = random.Random(SEED)
    count = len(values)
    means = sorted(sum(rng.choices(values, k=count)) / count for _ in range(DRAWS))
    return means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS) - 1]


def _chance(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of the sign-flip test, never 0."""
    observed = abs(sum(differences))
    if not any(differences):
        return 1.0
    rng = random.Random(SEED)
    nonzero = [value for value in differences if value]
    extreme = 0
    for _ in range(FLIPS):
        bits = rng.getrandbits(len(nonzero))
        total = 0.0
        for place, value in enumerate(nonzero):
            total += value if bits >> place & 1 else -value
        extreme += abs(total) >= observed - 1e-12
    return (extreme + 1) / (FLIPS + 1)


def compare(
    queries: Sequence[BenchQuery],
    first: Mapping[str, RankedAnswer],
    second: Mapping[str, RankedAnswer],
    names: Sequence[str] = MEASURES,
) -> list[MeasureComparison]:
    """Compare two runs over the answerable queries. Raises InvalidInput."""
    comparisons = []
    for name in names:
        ours, theirs = per_query(queries, first, name), per_query(queries, second, name)
        differences = [theirs[key] - ours[key] for key in ours]
        low, high = interval(differences)
        comparisons.append(
            MeasureComparison(
                name,
                _mean(list(ours.values())),
                _mean(list(theirs.values())),
                _mean(differences),
                low,
                high,
                _chance(differences),
                sum(value > 0 for value in differences),
                sum(value < 0 for value in differences),
                sum(value == 0 for value in differences),
            )
        )
    return comparisons
