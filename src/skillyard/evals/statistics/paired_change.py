"""The changes of some measures between two runs of the same cases, and their exact tests.

If nothing changed, each case's answers of before and now could have been drawn in any order. So
within each case the answers are dealt out to the two runs at random (a stratified permutation test;
with one answer a case and run it is the sign-flip test, and with answers that pass or fail it is
McNemar's exact test: Psychometrika 12, 1947, 153-157). More cases and more runs both sharpen it.

All measures share each deal, and a change counts if it is larger than the largest change of any
measure in 96 % of the deals (the max-T procedure of Westfall & Young, Resampling-Based Multiple
Testing, 1993, ch. 2). So if nothing changed, any change at all counts in at most 5 % of runs.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, fsum, prod, sqrt
from statistics import fmean
from typing import Any

from skillyard.evals.statistics.intervals import arrays, random_places

FALSE_ALARMS = 0.04
"""The share of comparisons of unchanged skills in which a gate may fail: below the 5 % that is
promised, because the chances are estimated from random deals."""
DEALS = 9_999
"""Random deals; the observed one is counted beside them (Phipson & Smyth 2010), so p is above 0."""
_SPLITS = 1_000
"""More ways than this to deal out one case's answers are drawn at random."""
_EQUAL = 1e-9
Values = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class PairedValues:
    """One measure in two runs: the values of each case, one for each run of it."""

    before: Values
    after: Values
    worse: int = -1
    """The direction that is worse: -1 for lower values, 1 for higher ones."""

    @property
    def cases(self) -> list[str]:
        """The cases that have values in both runs."""
        common = self.before.keys() & self.after.keys()
        return sorted(case for case in common if self.before[case] and self.after[case])


@dataclass(frozen=True, slots=True)
class PairedChange:
    """The mean over cases of the later value less the earlier one."""

    cases: int
    before: float
    after: float
    change: float
    low: float
    """The lower end of the interval. Each end errs in any measure with chance ``FALSE_ALARMS``."""
    high: float
    p_worse: float
    """The chance of so large a change for the worse, or a larger one, if nothing changed."""
    p_better: float
    p_worse_adjusted: float
    """The chance that any measure changes so much for the worse, if nothing changed."""
    p_better_adjusted: float


@dataclass(frozen=True, slots=True)
class _Deals:
    """One measure: the sum of its changes in every deal, the observed one first."""

    values: PairedValues
    cases: Sequence[str]
    sums: Any
    """For the worse is positive."""
    reach: float

    @property
    def scale(self) -> float:
        """What makes sums over different numbers of cases vary alike."""
        return 1 / sqrt(len(self.cases))


def paired_changes(measures: Sequence[PairedValues], *, seed: int = 0) -> list[PairedChange | None]:
    """Return the change of each measure; None for one without a case in both runs."""
    np = arrays()
    deals = [_deal(measure, seed) if measure.cases else None for measure in measures]
    scaled = [each.sums * each.scale for each in deals if each is not None]
    if not scaled:
        return [None] * len(measures)
    worst, best = np.max(scaled, axis=0), np.max(np.negative(scaled), axis=0)
    return [None if each is None else _change(each, worst, best) for each in deals]


def smallest_possible_p(measure: PairedValues) -> float:
    """Return the smallest p that so many cases and runs can reach, whatever their values are."""
    return 1 / prod(
        comb(len(measure.before[case]) + len(measure.after[case]), len(measure.after[case]))
        for case in measure.cases
    )


def _change(deals: _Deals, worst: Any, best: Any) -> PairedChange:
    measure, count = deals.values, len(deals.cases)
    observed = float(deals.sums[0])
    to_worse = _largest_of_chance(worst) / deals.scale / count
    to_better = _largest_of_chance(best) / deals.scale / count
    change = measure.worse * observed / count
    # The end on the side of no change is as far away as chance takes a change in that direction.
    down, up = (to_better, to_worse) if measure.worse < 0 else (to_worse, to_better)
    return PairedChange(
        count,
        fmean([fmean(measure.before[case]) for case in deals.cases]),
        fmean([fmean(measure.after[case]) for case in deals.cases]),
        change,
        change - down,
        change + up,
        _share(deals.sums, observed - deals.reach),
        _share(-deals.sums, -observed - deals.reach),
        _share(worst, (observed - deals.reach) * deals.scale),
        _share(best, (-observed - deals.reach) * deals.scale),
    )


def _largest_of_chance(largest: Any) -> float:
    """Return what the largest change of a deal exceeds in 4 % of the deals."""
    np = arrays()
    place = len(largest) - int(FALSE_ALARMS * len(largest) * (1 + 1e-12)) - 1
    return float(np.partition(largest, place)[place])


def _share(values: Any, least: float) -> float:
    return float(arrays().count_nonzero(values >= least)) / len(values)


def _deal(measure: PairedValues, seed: int) -> _Deals:
    np = arrays()
    cases = measure.cases
    sums = np.zeros(DEALS + 1)
    sizes = []
    for case in cases:
        splits = measure.worse * _differences(measure.before[case], measure.after[case], seed)
        largest = float(np.abs(splits).max())
        sizes.append(largest)
        if largest:
            # The same deals in every measure of the case.
            places = random_places(f"{seed}/{case}", DEALS, len(splits))
            sums += splits[np.concatenate(([0], places))]
    return _Deals(measure, cases, sums, _EQUAL * fsum(sizes))


def _differences(before: Sequence[float], after: Sequence[float], seed: int) -> Any:
    """Return the difference of the means in every split of one case's answers, as it is first."""
    np = arrays()
    values = np.array([*after, *before], dtype=float)
    later = len(after)
    if comb(len(values), later) <= _SPLITS:
        chosen = list(combinations(range(len(values)), later))
    else:
        rng = random.Random(seed)
        places = range(len(values))
        chosen = [tuple(places[:later])]
        chosen += [tuple(rng.sample(places, later)) for _ in range(_SPLITS)]
    sums = values[np.array(chosen)].sum(axis=1)
    return sums / later - (values.sum() - sums) / (len(values) - later)
