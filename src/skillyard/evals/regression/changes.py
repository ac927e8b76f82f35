"""The change of each measure against a baseline, case by case, and what counts as a regression.

A regression is a change for the worse that is larger than the limit of the configuration (evals.md
§1.16) and more than chance: in a comparison of unchanged skills, any is reported in at most 5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from skillyard.evals.statistics.intervals import spread_of
from skillyard.evals.statistics.paired_change import (
    FALSE_ALARMS,
    PairedChange,
    PairedValues,
    paired_changes,
    smallest_possible_p,
)

_SEED = 0
"""Of the random deals: two comparisons of the same results are equal."""
_EXACT = 9
"""Decimals to which a change is compared with its limit."""

REGRESSION, IMPROVEMENT, UNCHANGED = "regression", "improvement", "unchanged"
WORSE, NEW, REMOVED, CANNOT_TELL = "worse", "new", "gone", "cannot tell"
NOT_COMPARED = "not compared"
"""The status of a whole result in a report. No :class:`MeasureChange` of a comparison has it."""


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
    gate: bool
    """True if a change for the worse is a regression; False if it is only shown."""
    cases: Values
    threshold: float = 0.0
    """The change that counts."""
    least: int = 1
    """Values that both runs need."""
    spreads: float = 0.0
    """So many standard deviations of the baseline's values a change must exceed as well."""
    largest: float = inf
    """No change can be larger: 1 for rates."""


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
    """``regression``, ``improvement``, ``unchanged``, ``worse`` (shown, but not part of the gate),
    ``new``, ``gone`` or ``cannot tell``."""
    before: float | None = None
    after: float | None = None
    change: float | None = None
    """After minus before, mean over cases."""
    threshold: float | None = None
    """The change from which on it is reported."""
    low: float | None = None
    """The interval of the change, corrected for all measures."""
    high: float | None = None
    p: float | None = None
    """The chance of such a change, or a larger one in its direction, if nothing changed."""
    p_adjusted: float | None = None
    """For all measures together."""
    cases: int = 0
    gate: bool = True
    """False where a change for the worse is shown but is no regression."""
    note: str = ""

    @property
    def message(self) -> str:
        """One sentence with the figures."""
        if self.status == NEW:
            return "not in the baseline"
        if self.status == REMOVED:
            return "in the baseline, and not in the results any more"
        if self.before is None or self.after is None or self.change is None:
            return f"{self.measure}: cannot tell, {self.note}"
        sentence = (
            f"{self.measure}: {self.before:.3g} before, {self.after:.3g} now ({self.change:+.3g}"
        )
        if self.low is not None and self.low == self.high:
            sentence += ", no case differs, which does not show that others would not"
        elif self.low is not None and self.high is not None:
            sentence += f", interval {self.low:+.3g} to {self.high:+.3g}"
        if self.p_adjusted is not None:
            sentence += f", corrected p {self.p_adjusted:.3g}"
        sentence += f") over {self.cases} cases; the threshold is {self.threshold:.3g}"
        return f"{sentence}; cannot tell, {self.note}" if self.note else sentence

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {**asdict(self), "message": self.message}


def changes_of_measures(
    eval_type: str, before: Sequence[Measure], after: Sequence[Measure]
) -> tuple[MeasureChange, ...]:
    """Return the change of every measure that both runs have, by entity and measure.

    The limits are those of ``after``. Measures that are only shown are corrected apart from those
    of the gate.
    """
    earlier = {(each.entity, each.measure): each.cases for each in before}
    both = [each for each in after if (each.entity, each.measure) in earlier]
    changes = []
    for gate in (True, False):
        family = [each for each in both if each.gate == gate]
        pairs = [
            PairedValues(
                earlier[each.entity, each.measure], each.cases, -1 if each.worse == "lower" else 1
            )
            for each in family
        ]
        for measure, values, difference in zip(
            family, pairs, paired_changes(pairs, seed=_SEED), strict=True
        ):
            changes.append(_change(eval_type, measure, values, difference))
    return tuple(sorted(changes, key=lambda change: (change.entity, change.measure)))


def _change(
    eval_type: str, measure: Measure, values: PairedValues, difference: PairedChange | None
) -> MeasureChange:
    counts = sum(map(len, values.before.values())), sum(map(len, values.after.values()))
    identity = (eval_type, measure.entity, measure.measure)
    if difference is None or min(counts) < measure.least:
        note = (
            f"{counts[0]} values before and {counts[1]} now;"
            f" {measure.least} are needed on both sides"
        )
        return MeasureChange(*identity, CANNOT_TELL, gate=measure.gate, note=note)
    threshold = max(measure.threshold, measure.spreads * _spread(values.before))
    is_worse = difference.change * values.worse > 0
    status, note = _status(measure, values, difference, threshold)
    return MeasureChange(
        *identity,
        status,
        round(difference.before, 6),
        round(difference.after, 6),
        round(difference.change, 6) + 0.0,  # never -0.0
        threshold,
        round(max(difference.low, -measure.largest), 6),
        round(min(difference.high, measure.largest), 6),
        round(difference.p_worse if is_worse else difference.p_better, 6),
        round(difference.p_worse_adjusted if is_worse else difference.p_better_adjusted, 6),
        difference.cases,
        measure.gate,
        note,
    )


def _spread(values: Mapping[str, Sequence[float]]) -> float:
    return spread_of([value for of_case in values.values() for value in of_case])


def _status(
    measure: Measure, values: PairedValues, difference: PairedChange, threshold: float
) -> tuple[str, str]:
    """Return the status of a change, and why nothing can be told where that is so."""
    if smallest_possible_p(values) > FALSE_ALARMS:
        return CANNOT_TELL, (
            f"no change of {difference.cases} cases can be told from chance;"
            " more prompts or --runs are needed"
        )
    # Figures such as 0.3 - 0.2 or 3 * 0.7 miss their decimal by a hair: a limit is passed, not
    # touched.
    if round(abs(difference.change), _EXACT) <= round(threshold, _EXACT):
        return UNCHANGED, ""
    if difference.p_worse_adjusted <= FALSE_ALARMS:
        return (REGRESSION if measure.gate else WORSE), ""
    return (IMPROVEMENT if difference.p_better_adjusted <= FALSE_ALARMS else UNCHANGED), ""
