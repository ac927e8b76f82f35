"""The change of each measure between two runs, case by case, and what counts as a regression.

A regression is a change for the worse that is larger than the limit of the configuration (evals.md
§1.16) and more than chance. If nothing changed, each case's answers of before and now could have
been drawn in any order. So within each case the answers are dealt out to the two runs at random (a
stratified permutation test; with one answer a case and run it is the sign-flip test, and with
answers that pass or fail it is McNemar's exact test: Psychometrika 12, 1947, 153-157). More cases
and more runs both sharpen it.

All measures share each deal, and a change counts if it is larger than the largest change of any
measure in 96 % of the deals (the max-T procedure of Westfall & Young, Resampling-Based Multiple
Testing, 1993, ch. 2). So if nothing changed, any change at all counts in at most 5 % of runs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import comb, prod, sqrt
from statistics import fmean
from typing import Any, NamedTuple

from skillyard.evals.statistics.intervals import arrays, spread_of

FALSE_ALARMS = 0.04
"""The share of comparisons of unchanged skills in which a gate may fail: below the 5 % that is
promised, because the chances are estimated from random deals."""
DEALS = 9_999
"""Random deals; the observed one is counted beside them (Phipson & Smyth 2010), so p is above 0."""
_MOST_IN_ALL_ORDERS, _ORDERS = 6, 1_000
_EXACT = 9
"""Decimals to which changes are compared: figures such as 0.3 - 0.2 miss theirs by a hair."""

REGRESSION, IMPROVEMENT, UNCHANGED = "regression", "improvement", "unchanged"
NEW, REMOVED, CANNOT_TELL = "new", "gone", "cannot tell"
NOT_COMPARED = "not compared"
"""The status of a whole result in a report; the note says why."""


Values = dict[str, list[float]]
"""The values of each case, by its digest, one for each of its runs."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of one skill, or of all (``_overall``), with its values case by case.

    A summary could not say whether a difference is more than chance, since it no longer knows which
    answer belongs to which case.
    """

    entity: str
    measure: str
    worse: str
    """``lower`` or ``higher``: the direction that is a regression."""
    cases: Values
    threshold: float = 0.0
    """The change that counts."""
    least: int = 1
    """Values that both runs need."""
    spreads: float = 0.0
    """So many standard deviations of the baseline's values a change must exceed as well."""


def values_by_case(
    cases: Iterable[Mapping[str, Any]], value: Callable[[Mapping[str, Any]], bool]
) -> Values:
    """Return 1 or 0 for each run of each case."""
    values: Values = {}
    for case in cases:
        values.setdefault(case_key(case), []).append(float(value(case)))
    return values


def case_key(case: Mapping[str, Any]) -> str:
    """Return what identifies a case in another run: the digest of all that is asked in it.

    Results of earlier releases have none, and are identified by their place.
    """
    own = f"{case['skill_name']}#{case['prompt_index']}" if "prompt_index" in case else case["id"]
    return str(case.get("case_sha256") or own)


@dataclass(frozen=True, slots=True)
class MeasureChange:
    """One measure of one entity, before and now."""

    eval_type: str
    entity: str
    measure: str
    status: str
    """``regression``, ``improvement``, ``unchanged``, ``new``, ``gone`` or ``cannot tell``."""
    before: float | None = None
    after: float | None = None
    change: float | None = None
    """After minus before, mean over cases."""
    threshold: float | None = None
    """The change from which on it is reported."""
    p_adjusted: float | None = None
    """The chance that any measure changes so much in its direction, if nothing changed."""
    cases: int = 0
    message: str = ""
    """One sentence with the figures."""


def changes_of_measures(
    eval_type: str, before: Sequence[Measure], after: Sequence[Measure]
) -> tuple[MeasureChange, ...]:
    """Return the change of every measure that both runs have, by entity and measure.

    The limits are those of ``after``.
    """
    np = arrays()
    earlier = {(each.entity, each.measure): each.cases for each in before}
    pairs = [
        _Pair(each, earlier[each.entity, each.measure])
        for each in after
        if (each.entity, each.measure) in earlier
    ]
    deals = [pair.deals() for pair in pairs]
    largest = [np.max([sign * each for each in deals], axis=0) for sign in (1, -1)] if deals else []
    changes = [
        pair.change(eval_type, own, *largest) for pair, own in zip(pairs, deals, strict=True)
    ]
    return tuple(sorted(changes, key=lambda change: (change.entity, change.measure)))


class _Pair(NamedTuple):
    """One measure in two runs."""

    measure: Measure
    before: Values

    @property
    def cases(self) -> list[str]:
        """The cases that have values in both runs."""
        after = self.measure.cases
        return sorted(case for case in self.before if self.before[case] and after.get(case))

    @property
    def sign(self) -> int:
        """What turns a change into one for the worse."""
        return -1 if self.measure.worse == "lower" else 1

    def deals(self) -> Any:
        """Return the sum of the changes for the worse in every deal, the observed one first.

        Divided by the root of the number of cases, so that sums over different numbers of cases
        vary alike. A case is dealt alike in all measures.
        """
        np = arrays()
        sums = np.zeros(DEALS + 1)
        for case in self.cases:
            later = len(self.measure.cases[case])
            values = np.array([*self.measure.cases[case], *self.before[case]])
            if values.min() == values.max():
                continue
            dealt = values[_orders(len(values))]
            changes = dealt[:, :later].mean(axis=1) - dealt[:, later:].mean(axis=1)
            bits = np.frombuffer(random.Random(case).randbytes(4 * DEALS), dtype="<u4")
            places = bits.astype("u8") * np.uint64(len(dealt)) >> np.uint64(32)
            sums += changes[np.append(np.uint64(0), places)]
        return np.round(self.sign * sums / sqrt(len(self.cases) or 1), _EXACT)

    def change(self, eval_type: str, deals: Any, worst: Any, best: Any) -> MeasureChange:
        """Return the change, by the largest changes of any measure in each deal."""
        measure, cases = self.measure, self.cases
        identity = (eval_type, measure.entity, measure.measure)
        counts = [sum(map(len, values.values())) for values in (self.before, measure.cases)]
        if not cases or min(counts) < measure.least:
            note = f"{counts[0]} values before and {counts[1]} now; {measure.least} are needed"
            note += " on both sides"
            message = f"{measure.measure}: cannot tell, {note}"
            return MeasureChange(*identity, CANNOT_TELL, message=message)
        spread = spread_of([value for values in self.before.values() for value in values])
        threshold = max(measure.threshold, measure.spreads * spread)
        change = self.sign * float(deals[0]) / sqrt(len(cases))
        p_worse, p_better = (
            float((each >= sign * deals[0]).mean()) for each, sign in ((worst, 1), (best, -1))
        )
        status, note = UNCHANGED, ""
        if self._smallest_p() > FALSE_ALARMS:
            status = CANNOT_TELL
            note = f"no change of {len(cases)} cases can be told from chance;"
            note += " more prompts or --runs are needed"
        elif round(abs(change), _EXACT) > round(threshold, _EXACT):  # passed, not touched
            if p_worse <= FALSE_ALARMS:
                status = REGRESSION
            elif p_better <= FALSE_ALARMS:
                status = IMPROVEMENT
        before, after = (
            fmean([fmean(values[case]) for case in cases])
            for values in (self.before, measure.cases)
        )
        p = p_worse if deals[0] > 0 else p_better
        message = f"{measure.measure}: {before:.3g} before, {after:.3g} now ({change:+.3g},"
        message += f" corrected p {p:.3g}) over {len(cases)} cases"
        message += f"; the threshold is {threshold:.3g}"
        message += f"; cannot tell, {note}" if note else ""
        figures = (round(before, 6), round(after, 6), round(change, 6) + 0.0)  # never -0.0
        return MeasureChange(
            *identity, status, *figures, threshold, round(p, 6), len(cases), message
        )

    def _smallest_p(self) -> float:
        """Return the smallest p that so many cases and runs can reach, whatever they hold."""
        sizes = [(len(self.before[case]), len(self.measure.cases[case])) for case in self.cases]
        return 1 / prod(comb(before + after, after) for before, after in sizes)


@lru_cache(maxsize=32)
def _orders(count: int) -> Any:
    """Return orders of so many answers, as they are first: all up to six, then some, both ways.

    The bits are Python's own: numpy does not promise the stream of its generators.
    """
    np = arrays()
    if count <= _MOST_IN_ALL_ORDERS:
        return np.array([*permutations(range(count))])
    bits = random.Random(count).randbytes(4 * _ORDERS * count)
    drawn = np.frombuffer(bits, dtype="<u4").reshape(_ORDERS, count).argsort(axis=1)
    return np.vstack((np.arange(count), drawn, drawn[:, ::-1]))
