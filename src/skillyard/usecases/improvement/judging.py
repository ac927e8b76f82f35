"""The verdict on one proposal, from the cases of the held-out half.

The change of the pass rate is tested in both directions together, so that better and worse are
both wrong in at most 5 % of the runs. One proposal alone is judged, so nothing has to be corrected
for the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from skillyard.evals.cases.activation import ActivationCase
from skillyard.evals.statistics.paired_change import (
    FALSE_ALARMS,
    PairedChange,
    PairedValues,
    paired_changes,
    smallest_possible_p,
)
from skillyard.shapes.improvements import HeldOut
from skillyard.text import plural
from skillyard.usecases.improvement.halves import should_fire
from skillyard.usecases.improvement.scoring import CaseOutcome, Outcomes, passes_of

__all__ = ["BETTER", "CANNOT_TELL", "WORSE", "ChangeVerdict", "judge_change", "more_cases_needed"]

BETTER = "better"
WORSE = "worse"
CANNOT_TELL = "cannot tell"
Pairs = Sequence[tuple[CaseOutcome, CaseOutcome]]
"""Each held-out case before and after."""
_DIRECTIONS = (-1, 1)


@dataclass(frozen=True, slots=True)
class ChangeVerdict:
    """What the held-out half says about a proposal."""

    held_out: HeldOut | None
    """None if no proposal was judged."""
    verdict: str
    reason: str
    more_cases: int
    """Cases to write, of the kind that fails now, before any result can count."""


def least_cases(runs: int) -> int:
    """Return how many cases have to change, all in one direction, before that can count."""
    answers = [0.0] * runs
    for cases in count(1):
        values = {str(number): answers for number in range(cases)}
        if len(_DIRECTIONS) * smallest_possible_p(PairedValues(values, values)) <= FALSE_ALARMS:
            return cases
    raise AssertionError  # count() does not end


def more_cases_needed(cases: int, runs: int) -> int:
    """Return how many cases to write until the held-out half has enough that can change."""
    return 2 * max(0, least_cases(runs) - cases)


def judge_change(
    before: Outcomes, after: Outcomes, skill: str, *, runs: int = 1, seed: int = 0
) -> ChangeVerdict | None:
    """Return the verdict on a change; None where no case has an answer before and after."""
    both = sorted(before.keys() & after.keys())
    was = {case: before[case].passes for case in both}
    now = {case: after[case].passes for case in both}
    change, _ = paired_changes([PairedValues(was, now, each) for each in _DIRECTIONS], seed=seed)
    if change is None:
        return None
    pairs = [(before[case], after[case]) for case in both]
    verdict = _verdict(change)
    more = more_cases_needed(_failing(pairs), runs) if verdict == CANNOT_TELL else 0
    reason = _reason(change, pairs, verdict, runs)
    return ChangeVerdict(_held_out(change, pairs, skill), verdict, reason, more)


def _verdict(change: PairedChange) -> str:
    if _p(change) > FALSE_ALARMS:
        return CANNOT_TELL
    return BETTER if change.change > 0 else WORSE


def _reason(change: PairedChange, pairs: Pairs, verdict: str, runs: int) -> str:
    if verdict != CANNOT_TELL:
        return f"the change is larger than chance explains (p = {_p(change):.3g})"
    least, failing = least_cases(runs), _failing(pairs)
    if failing < least:
        return (
            f"{failing} of {plural(change.cases, 'held-out case')} fail now, and a verdict needs"
            f" at least {least} that change; write {more_cases_needed(failing, runs)} more cases"
            " like them"
        )
    if not _is_changed(pairs):
        return f"none of {plural(change.cases, 'held-out case')} changes"
    return f"so large a change is often chance (p = {_p(change):.3g})"


def _failing(pairs: Pairs) -> int:
    return sum(before.pass_rate < 1 for before, _ in pairs)


def _is_changed(pairs: Pairs) -> bool:
    return any(before.passes != after.passes for before, after in pairs)


def _p(change: PairedChange) -> float:
    """Return the chance of so large a change, in either direction, if nothing changed."""
    return min(change.p_better_adjusted, change.p_worse_adjusted)


def _held_out(change: PairedChange, pairs: Pairs, skill: str) -> HeldOut:
    lost = [(was, now) for was, now in pairs if now.pass_rate < was.pass_rate]
    differs = _is_changed(pairs)
    others = [(was, now) for was, now in pairs if not should_fire(now.case, skill)]
    return HeldOut(
        cases=change.cases,
        before=passes_of({was.case.id: was for was, _ in pairs}, skill),
        after=passes_of({now.case.id: now for _, now in pairs}, skill),
        pass_rate_before=round(change.before, 6),
        pass_rate_after=round(change.after, 6),
        change=round(change.change, 6) + 0.0,  # never -0.0
        low=round(max(-1.0, change.low), 6) if differs else None,
        high=round(min(1.0, change.high), 6) if differs else None,
        p=round(_p(change), 6),
        gained=_ids(now.case for was, now in pairs if now.pass_rate > was.pass_rate),
        lost=_ids(now.case for _, now in lost),
        false_fires=_ids(now.case for was, now in others if now.fires > was.fires),
        taken_away=_ids(
            now.case for was, now in others if now.case.expected_skills and now.served < was.served
        ),
    )


def _ids(cases: Iterable[ActivationCase]) -> tuple[str, ...]:
    return tuple(case.id for case in cases)
