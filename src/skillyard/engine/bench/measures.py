"""Scores a run and compares two: measures by name, intervals, and a paired test.

Intervals are percentile bootstraps over queries (Efron & Tibshirani 1993, ch. 13). The test flips
the signs of the paired differences (Smucker, Allan & Carterette, CIKM 2007). Its p-values are
corrected for the number of measures (Holm, Scandinavian Journal of Statistics 6, 1979, 65-70).
Seeds are fixed, so equal runs give equal figures.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import compress
from math import fsum, inf, log2
from statistics import fmean
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.base.shapes.benchmarks import BenchScore
from skillyard.engine.bench.runs import RIGHT, BenchQuery, RankedAnswer, read_queries, read_run

MEASURES = ("hit@1", "mrr@10", "ndcg@10", "recall@10")
"""The default measures."""
_NAME = re.compile(r"(ndcg|p|precision|r|recall|mrr|hit|success)@([1-9]\d{0,3})", re.IGNORECASE)
_SAME = {"precision": "p", "r": "recall", "success": "hit"}
ANSWERED_SHARE = 0.95
"""Share of the answerable queries that must stay above the confidence used for false fires."""
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


def measures(queries: Sequence[BenchQuery], run: Mapping[str, RankedAnswer]) -> dict[str, float]:
    """Return the means over the answerable queries, and how well confidence separates the others.

    hit@1, mrr@10, ndcg@10 (gain ``2**grade - 1``), recall@10 and recall@50 (of the relevant skills,
    at most as many as fit); auroc, and false_fire@95: the share of unanswerable queries that pass
    the confidence which keeps 95 % of the answerable ones.
    """
    answered = [(query, run.get(query.id, RankedAnswer()).confidence) for query in queries]
    sure = sorted(confidence for query, confidence in answered if query.answerable)
    unsure = sorted(confidence for query, confidence in answered if not query.relevant)
    results: dict[str, float] = {"queries": len(sure), "unanswerable": len(unsure)}
    if sure:
        names = (*MEASURES, "recall@50")
        results |= {name: fmean(per_query(queries, run, name).values()) for name in names}
    if sure and unsure:
        results |= _abstention(sure, unsure)
    return results


def per_query(
    queries: Sequence[BenchQuery], run: Mapping[str, RankedAnswer], measure: str
) -> dict[str, float]:
    """Return the value of one measure by query id, answerable queries only.

    Measures by name, case ignored: ``nDCG@k`` (gain ``2**grade - 1``), ``P@k``, ``R@k`` (of the
    right ones, at most as many as fit), ``MRR@k``, ``hit@k``. Raises InvalidInput for others.
    """
    match = _NAME.fullmatch(measure)
    if match is None:
        raise InvalidInput(
            f"unknown measure {measure!r}: write nDCG@10, P@1, R@10, MRR@10 or hit@1"
        )
    kind, depth = _SAME.get(match[1].lower(), match[1].lower()), int(match[2])
    return {
        query.id: _value(kind, depth, run.get(query.id, RankedAnswer()).ids, query.relevant)
        for query in queries
        if query.answerable
    }


def _value(kind: str, depth: int, ids: Sequence[str], relevant: Mapping[str, int]) -> float:
    grades = [relevant.get(key, 0) for key in ids[:depth]]
    hits = [grade >= RIGHT for grade in grades]
    if kind == "ndcg":
        return _gain(grades) / _gain(sorted(relevant.values(), reverse=True)[:depth])
    if kind == "p":
        return sum(hits) / depth
    if kind == "recall":
        return sum(hits) / min(depth, sum(grade >= RIGHT for grade in relevant.values()))
    first = hits.index(True) + 1 if any(hits) else inf
    return 1 / first if kind == "mrr" else float(first < inf)


def _gain(grades: Sequence[int]) -> float:
    """Return the discounted cumulative gain."""
    return fsum((2**grade - 1) / log2(place) for place, grade in enumerate(grades, 2))


def _abstention(sure: Sequence[float], unsure: Sequence[float]) -> dict[str, float]:
    """Compare confidences, both sorted ascending, of answerable and unanswerable queries."""
    wins = sum(bisect_left(unsure, value) + unsure.count(value) / 2 for value in sure)
    least = sure[int((1 - ANSWERED_SHARE) * len(sure))]
    return {
        "auroc": wins / (len(sure) * len(unsure)),
        "false_fire@95": (len(unsure) - bisect_left(unsure, least)) / len(unsure),
    }


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the mean; (0, 0) without values."""
    if not values:
        return 0.0, 0.0
    rng, count = random.Random(SEED), len(values)
    means = sorted(sum(rng.choices(values, k=count)) / count for _ in range(DRAWS))
    return means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS) - 1]


def bench_score(run: str, queries: list[str], *, names: tuple[str, ...] = ()) -> BenchScore:
    """Score a run file against judged queries; see :func:`measures`.

    ``names`` are additional measures (``nDCG@5``, ``P@3``, …). Raises SkillIoError, InvalidInput
    (also for a query id in two files).
    """
    judged, answers = _read_judged(queries), read_run(run)
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


def _read_judged(paths: Iterable[str]) -> list[BenchQuery]:
    judged = [query for path in paths for query in read_queries(path)]
    counts = Counter(query.id for query in judged)
    if twice := [key for key, count in counts.items() if count > 1]:
        raise InvalidInput(f"the query id {twice[0]!r} is in two of the files")
    return judged


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


class BenchCompare(NamedTuple):
    """The comparison of two runs over the same queries."""

    first: str
    second: str
    tolerance: float
    margin: float
    regressed: bool
    """The second run is worse in a measure, or its mean fell by more than the tolerance."""
    verdict: str
    """Over all measures."""
    warnings: list[str]
    """Why some measures have no verdict."""
    measures: list[MeasureComparison]

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.bench-compare/1``."""
        rows = [{**one._asdict(), "regressed": one.verdict == WORSE} for one in self.measures]
        return {"schema": "skillyard.bench-compare/1", **self._asdict(), "measures": rows}


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
    judged = _read_judged(queries)
    rows = compare(judged, read_run(first), read_run(second), names or MEASURES, margin=margin)
    verdicts = {one.verdict for one in rows}
    regressed = WORSE in verdicts or any(one.difference < -tolerance - 1e-12 for one in rows)
    words = (BETTER, CANNOT_TELL, NO_DIFFERENCE)
    verdict = WORSE if regressed else next(word for word in words if word in verdicts)
    warnings = []
    if unclear := ", ".join(one.measure for one in rows if one.verdict == CANNOT_TELL):
        count, least = sum(query.answerable for query in judged), queries_needed(len(rows))
        why = f"with {count:,} queries the interval reaches beyond ±{margin:g}"
        if count < least:
            why = f"too few judged queries: {count:,}, at least {least} are needed"
        warnings = [f"cannot tell whether {second} is worse in {unclear}: {why}"]
    return BenchCompare(first, second, tolerance, margin, regressed, verdict, warnings, rows)


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
    rows = [_compare_measure(queries, first, second, name) for name in names]
    enough = sum(query.answerable for query in queries) >= queries_needed(len(names))
    return [
        one._replace(p_adjusted=p, verdict=_verdict(one, p, margin, enough))
        for one, p in zip(rows, holm([one.p for one in rows]), strict=True)
    ]


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


def _verdict(one: MeasureComparison, p_adjusted: float, margin: float, enough: bool) -> str:
    if p_adjusted <= FALSE_ALARMS:
        return BETTER if one.difference > 0 else WORSE
    return NO_DIFFERENCE if enough and -margin <= one.low <= one.high <= margin else CANNOT_TELL


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
