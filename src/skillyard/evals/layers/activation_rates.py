"""The figures of L3: rates by skill, what is picked in place of what, and what is compared.

The runs of a case are averaged, so each case counts once (evals.md §1.15).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING, Any

from skillyard.base.sums import wilson
from skillyard.evals.regression.changes import Measure, Values, values_by_case
from skillyard.evals.statistics.analysis import rounded
from skillyard.evals.statistics.intervals import spread_of
from skillyard.evals.statistics.verdicts import OVERALL

if TYPE_CHECKING:
    from skillyard.evals.settings import ActivationLimits

CONFUSED_SHARE = 0.2
"""A skill is confused with one that takes more than this share of its requests."""
_Runs = Sequence[Sequence[Mapping[str, Any]]]
"""Cases, each with its runs."""


def activation_summary(cases: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the summary by skill, and ``_overall``: means over cases, rates with intervals.

    Cases with errors and cases that were skipped count in ``errors`` alone. Where most requests
    that need a skill, or most that need none, have no readable choice, nothing was measured: the
    rest would be a rate of what happens to be readable. A skill's true
    positive rate is over the cases that expect it; its false positive rate over all the others
    that do not accept it. ``f1`` is the mean of the F1 of the cases that expect a skill (macro
    average): the one F1 that terminal and report show. ``mean`` is the mean over all cases.
    """
    all_cases = list(cases)
    decided = _runs_by_case(_decided(all_cases))
    summary = {OVERALL: {**_overall(decided), "errors": _errors(all_cases)}}
    for skill in sorted({name for case in all_cases for name in case["expected_skills"]}):
        of_skill = [case for case in all_cases if skill in case["expected_skills"]]
        summary[skill] = {**_for_skill(skill, decided), "errors": _errors(of_skill)}
    figures: dict[str, dict[str, Any]] = rounded(summary)
    return figures


def activation_measures(
    cases: Sequence[Mapping[str, Any]], limits: ActivationLimits
) -> Iterator[Measure]:
    """Yield true and false positive rates of all requests, and of each skill."""
    decided = _decided(cases)
    positives = [case for case in decided if case["should_activate"]]
    negatives = [case for case in decided if not case["should_activate"]]
    yield from _rates(
        OVERALL,
        values_by_case(positives, lambda case: case["passed"]),
        values_by_case(negatives, lambda case: not case["passed"]),
        limits,
    )
    for skill in sorted({name for case in decided for name in case["expected_skills"]}):
        fires = partial(_fires, skill)
        expecting = [case for case in decided if skill in case["expected_skills"]]
        others = [case for case in decided if _is_other(skill, case)]
        yield from _rates(
            skill, values_by_case(expecting, fires), values_by_case(others, fires), limits
        )


def _rates(
    entity: str, positives: Values, negatives: Values, limits: ActivationLimits
) -> Iterator[Measure]:
    least = limits.min_cases
    yield Measure(entity, "tpr", "lower", positives, limits.tpr_drop, least, largest=1)
    yield Measure(entity, "fpr", "higher", negatives, limits.fpr_increase, least, largest=1)


def _fires(skill: str, case: Mapping[str, Any]) -> bool:
    return skill in case["picked"]


def _is_other(skill: str, case: Mapping[str, Any]) -> bool:
    """True for a request at which the skill should not fire."""
    expected = (*case["expected_skills"], *case["acceptable_skills"])
    return skill not in expected and case.get("about") in (None, skill)


def _decided(cases: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the cases with a choice; none of them where most of a kind have no readable one."""
    for needs_skill in (True, False):
        kind = [case for case in cases if case["should_activate"] is needs_skill]
        if 2 * _errors(kind) > sum(not case.get("skipped") for case in kind):
            return []
    return [case for case in cases if case["passed"] is not None]


def _errors(cases: Sequence[Mapping[str, Any]]) -> int:
    return sum(bool(case.get("errors")) for case in cases)


def _overall(decided: _Runs) -> dict[str, Any]:
    positives = [runs for runs in decided if runs[0]["should_activate"]]
    negatives = [runs for runs in decided if not runs[0]["should_activate"]]
    return {
        **_mean_and_spread(decided, "f1"),
        "n": len(decided),
        "precision": _mean(positives, "precision"),
        "recall": _mean(positives, "recall"),
        "f1": _mean(positives, "f1"),
        **_rate("tpr", [_over_runs(runs, "passed") for runs in positives]),
        **_rate("fpr", [1.0 - _over_runs(runs, "passed") for runs in negatives]),
        "accuracy": _mean(decided, "passed"),
        "exact_set_rate": _mean(decided, "exact"),
        "positives": len(positives),
        "negatives": len(negatives),
    }


def _for_skill(skill: str, decided: _Runs) -> dict[str, Any]:
    expecting = [runs for runs in decided if skill in runs[0]["expected_skills"]]
    others = [runs for runs in decided if _is_other(skill, runs[0])]

    def fired(cases: _Runs) -> list[float]:
        return [fmean(_fires(skill, case) for case in runs) for runs in cases]

    return {
        **_mean_and_spread(expecting, "f1"),
        "n": len(expecting),
        "f1": _mean(expecting, "f1"),
        **_rate("tpr", fired(expecting)),
        **_rate("fpr", fired(others)),
        "positives": len(expecting),
        "negatives": len(others),
    }


def confusion_of(cases: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return which skills are picked in place of others, the most frequent first.

    A request counts for the first skill that it expects, and for the first pick, where that is
    neither expected nor acceptable.
    """
    requests: Counter[str] = Counter()
    taken: Counter[tuple[str, str]] = Counter()
    for case in cases:
        if case["passed"] is not None and case["expected_skills"]:
            skill = case["expected_skills"][0]
            requests[skill] += 1
            first = next(iter(case["picked"]), None)
            right = (*case["expected_skills"], *case["acceptable_skills"])
            if first is not None and first not in right:
                taken[skill, first] += 1
    return [
        {
            "skill": skill,
            "picked": picked,
            "requests": count,
            "of": requests[skill],
            "confused": count > CONFUSED_SHARE * requests[skill],
        }
        for (skill, picked), count in sorted(taken.items(), key=lambda item: (-item[1], item[0]))
    ]


def _runs_by_case(cases: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Return the runs of each case together."""
    runs: dict[str, list[Mapping[str, Any]]] = {}
    for case in cases:
        runs.setdefault(case["id"], []).append(case)
    return list(runs.values())


def _over_runs(runs: Sequence[Mapping[str, Any]], field: str) -> float:
    return fmean(case[field] for case in runs)


def _mean(cases: _Runs, field: str) -> float | None:
    return fmean(_over_runs(runs, field) for runs in cases) if cases else None


def _mean_and_spread(cases: _Runs, field: str) -> dict[str, float | None]:
    values = [_over_runs(runs, field) for runs in cases]
    return {"mean": fmean(values) if values else None, "stddev": spread_of(values)}


def _rate(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """Return a share of cases with its Wilson interval; a case half of whose runs pass is half."""
    low, high = wilson(fsum(values), len(values)) if values else (None, None)
    return {name: fmean(values) if values else None, f"{name}_low": low, f"{name}_high": high}
