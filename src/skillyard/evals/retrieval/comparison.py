"""Scores a run and compares two: measures by name, intervals, and a paired test.

Intervals are percentile bootstraps over queries (Efron & Tibshirani 1993, ch. 13). The test flips
the signs of the paired differences (Smucker, Allan & Carterette, CIKM 2007). Its p-values are
corrected for the number of measures (Holm, Scandinavian Journal of Statistics 6, 1979, 65-70).
Seeds are fixed, so equal runs give equal figures.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import compress
from statistics import fmean
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.base.shapes.benchmarks import BenchScore
from skillyard.evals.retrieval.measures import (
    BenchQuery,
    RankedAnswer,
    measures,
    per_query,
    read_queries,
    read_run,
)

MEASURES = ("hit@1", "mrr@10", "ndcg@10", "recall@10")
"""The default measures."""
DRAWS = 2_000
FLIPS = 10_000
EXACT = 15
"""Up to so many differences other than zero every pattern of signs is tried."""
FALSE_ALARMS = 0.05
"""The chance that two equal runs are called better or worse in any of the measures."""
MARGIN = 0.02
"""The default for a difference of means that does not matter."""
BETTER, WORSE = "better", "worse"
NO_DIFFERENCE = "no difference shown"
CANNOT_TELL = "cannot tell"
SEED = 20_261_121


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
    p_adjusted: float = 1.0
    """``p``, corrected for the number of measures."""
    verdict: str = CANNOT_TELL
    """``better`` or ``worse``: by more than chance explains. ``no difference shown``: the interval
    lies within the margin. ``cannot tell``: neither, or too few queries for any result."""

    @property
    def regressed(self) -> bool:
        """True when the second run is worse by more than chance explains."""
        return self.verdict == WORSE


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the mean; (0, 0) without values."""
    if not values:
        return 0.0, 0.0
    rng, count = random.Random(SEED), len(values)
    means = sorted(sum(rng.choices(values, k=count)) / count for _ in range(DRAWS))
    return means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS) - 1]


def _chance(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of the sign-flip test, above 0."""
    nonzero = [value for value in differences if value]
    count, total = len(nonzero), sum(nonzero)
    patterns: Sequence[int] = range(2**count) if count <= EXACT else ()
    if not patterns:
        rng = random.Random(SEED)
        patterns = [0, *(rng.getrandbits(count) for _ in range(FLIPS))]
    sums = (
        total - 2 * sum(compress(nonzero, map(int, f"{flips:0{count}b}"))) for flips in patterns
    )
    return sum(abs(each) >= abs(total) - 1e-12 for each in sums) / len(patterns)


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p-values corrected for their number, in the order given, at most 1."""
    adjusted = [1.0] * len(ps)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        largest = max(largest, min(1.0, ps[place] * (len(ps) - rank)))
        adjusted[place] = largest
    return adjusted


def queries_needed(measures: int) -> int:
    """Return the queries below which no result of so many measures can be told from chance.

    If all queries differ in the same direction, p is 2 / 2**n at best.
    """
    return next(count for count in range(1, 100) if measures * 2.0 ** (1 - count) <= FALSE_ALARMS)


def compare(
    queries: Sequence[BenchQuery],
    first: Mapping[str, RankedAnswer],
    second: Mapping[str, RankedAnswer],
    names: Sequence[str] = MEASURES,
    *,
    margin: float = MARGIN,
) -> list[MeasureComparison]:
    """Compare two runs over the answerable queries, with a verdict for each measure.

    ``margin`` is the difference of a mean that does not matter. Raises InvalidInput.
    """
    comparisons = [_compare_measure(queries, first, second, name) for name in names]
    adjusted = holm([one.p for one in comparisons])
    least = queries_needed(len(names)) if names else 0
    return [
        one._replace(p_adjusted=p, verdict=_verdict(one, p, margin, least))
        for one, p in zip(comparisons, adjusted, strict=True)
    ]


def _verdict(one: MeasureComparison, p_adjusted: float, margin: float, least: int) -> str:
    if p_adjusted <= FALSE_ALARMS:
        return BETTER if one.difference > 0 else WORSE
    enough = one.better + one.worse + one.same >= least
    return NO_DIFFERENCE if enough and -margin <= one.low <= one.high <= margin else CANNOT_TELL


def _compare_measure(
    queries: Sequence[BenchQuery],
    first: Mapping[str, RankedAnswer],
    second: Mapping[str, RankedAnswer],
    name: str,
) -> MeasureComparison:
    before, after = per_query(queries, first, name), per_query(queries, second, name)
    differences = [after[key] - before[key] for key in before]
    signs = Counter((value > 0) - (value < 0) for value in differences)
    return MeasureComparison(
        name,
        _mean(before.values()),
        _mean(after.values()),
        _mean(differences),
        *interval(differences),
        _chance(differences),
        signs[1],
        signs[-1],
        signs[0],
    )


def _mean(values: Collection[float]) -> float:
    return fmean(values) if values else 0.0


def bench_score(run: str, queries: list[str], *, names: tuple[str, ...] = ()) -> BenchScore:
    """Score a run file against judged queries; see :mod:`skillyard.evals.retrieval.measures`.

    ``names`` are additional measures (``nDCG@5``, ``P@3``, …). Raises SkillIoError, InvalidInput
    (also for a query id in two files).
    """
    judged, answers = _read_queries(queries), read_run(run)
    kinds = sorted({query.kind for query in judged if query.kind and query.answerable})

    def measured(these: list[BenchQuery]) -> dict[str, float]:
        values = {name.lower(): per_query(these, answers, name).values() for name in names}
        return measures(these, answers) | {name: fmean(of) for name, of in values.items() if of}

    intervals = {
        name.lower(): interval(values)
        for name in dict.fromkeys((*MEASURES, *names))
        if (values := list(per_query(judged, answers, name).values()))
    }
    by_kind = {kind: measured([query for query in judged if query.kind == kind]) for kind in kinds}
    return BenchScore(run=run, all=measured(judged), by_kind=by_kind, intervals=intervals)


def _read_queries(paths: list[str]) -> list[BenchQuery]:
    judged = [query for path in paths for query in read_queries(path)]
    counts = Counter(query.id for query in judged)
    if twice := [key for key, count in counts.items() if count > 1]:
        raise InvalidInput(f"the query id {twice[0]!r} is in two of the files")
    return judged


class BenchCompare(NamedTuple):
    """The comparison of two runs over the same queries, by measure."""

    first: str
    second: str
    measures: tuple[MeasureComparison, ...]
    tolerance: float
    margin: float

    @property
    def regressed(self) -> bool:
        """True when the second run is significantly worse, or by more than the tolerance."""
        return any(
            one.regressed or one.difference < -self.tolerance - 1e-12 for one in self.measures
        )

    @property
    def verdict(self) -> str:
        """The verdict over all measures; ``worse`` also for a drop beyond the tolerance."""
        verdicts = {one.verdict for one in self.measures}
        if self.regressed:
            return WORSE
        return next(word for word in (BETTER, CANNOT_TELL, NO_DIFFERENCE) if word in verdicts)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why some measures have no verdict."""
        unclear = [one for one in self.measures if one.verdict == CANNOT_TELL]
        if not unclear:
            return ()
        queries = unclear[0].better + unclear[0].worse + unclear[0].same
        least = queries_needed(len(self.measures))
        names = ", ".join(one.measure for one in unclear)
        if queries < least:
            why = f"too few judged queries: {queries:,}, at least {least} are needed"
        else:
            why = f"with {queries:,} queries the interval reaches beyond ±{self.margin:g}"
        return (f"cannot tell whether {self.second} is worse in {names}: {why}",)

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.bench-compare/1``."""
        return {
            "schema": "skillyard.bench-compare/1",
            "first": self.first,
            "second": self.second,
            "tolerance": self.tolerance,
            "margin": self.margin,
            "regressed": self.regressed,
            "verdict": self.verdict,
            "warnings": list(self.warnings),
            "measures": [{**one._asdict(), "regressed": one.regressed} for one in self.measures],
        }


def bench_compare(
    first: str,
    second: str,
    queries: list[str],
    *,
    names: tuple[str, ...] = (),
    tolerance: float = 1.0,
    margin: float = MARGIN,
) -> BenchCompare:
    """Compare two runs, query by query.

    ``tolerance`` is the largest accepted drop of a mean, whatever the test says; ``margin`` the
    difference of a mean that does not matter. Raises SkillIoError, InvalidInput.
    """
    if not margin >= 0:
        raise InvalidInput(f"the margin must be 0 or more, not {margin}")
    judged = _read_queries(queries)
    before, after = read_run(first), read_run(second)
    comparisons = compare(judged, before, after, names or MEASURES, margin=margin)
    return BenchCompare(first, second, tuple(comparisons), tolerance, margin)
