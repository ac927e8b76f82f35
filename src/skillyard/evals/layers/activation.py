"""L3, activation: whether the router picks the right skills, and none where none fits.

The runs of a case are averaged, so each case counts once (evals.md §1.14 and §1.15).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from skillyard.evals.cases.activation import ActivationCase
from skillyard.evals.layers.router import Routed, Router
from skillyard.evals.layers.routing_run import RoutingRun, RoutingTask, result_fields, rounded
from skillyard.evals.statistics.intervals import mean_of, spread_of, wilson

__all__ = ["ActivationRun", "activation_artifacts", "activation_summary"]

OVERALL = "_overall"
CURVE_POINTS = 200
"""Most thresholds of a curve: as many as a plot can show."""


class ActivationRun(RoutingRun):
    """The run of activation cases over one router."""

    def __init__(
        self,
        cases: Sequence[ActivationCase],
        router: Router,
        *,
        runs: int = 1,
        on_case: Callable[[dict[str, Any]], None] = lambda case: None,
    ) -> None:
        tasks = [RoutingTask(partial(_head, case), partial(_route, case, router)) for case in cases]
        super().__init__(tasks, runs=runs, on_case=on_case)


def _route(case: ActivationCase, router: Router, run: int) -> dict[str, Any]:
    candidates = tuple(dict.fromkeys((*case.expected_skills, *case.acceptable_skills)))
    return _outcome(case, router.route(case.user_prompt, candidates, run))


def _head(case: ActivationCase, run: int) -> dict[str, Any]:
    return {
        "id": case.id,
        "run_index": run,
        "user_prompt": case.user_prompt,
        "category": case.category,
        "expected_skills": list(case.expected_skills),
        "acceptable_skills": list(case.acceptable_skills),
        "required_skills": list(case.required_skills),
        "should_activate": case.should_activate,
        "about": case.about,
        "picked": [],
        "dropped": [],
        "passed": None,
        "precision": None,
        "recall": None,
        "f1": None,
        "exact": None,
        "fallback": False,
        "confidence": None,
        "best": None,
        "cost": 0.0,
        "generations": [],
        "errors": [],
        "skipped": None,
    }


def _outcome(case: ActivationCase, routed: Routed) -> dict[str, Any]:
    fields = {**result_fields(routed), "best": routed.best}
    return fields if routed.error else {**fields, **_score(case, routed)}


def _score(case: ActivationCase, routed: Routed) -> dict[str, Any]:
    """Return the measures of one choice.

    Any expected or acceptable skill is a hit (evals.md §1.14). With ``required_skills`` all of them
    are expected, and recall is their share. Acceptable skills do not change precision, unless
    nothing else is picked: then they count as the expected one. If no skill should be picked, an
    unreadable reply fails.
    """
    picked = list(routed.picked)
    if case.about is not None:
        picked = [name for name in picked if name == case.about]
    decisive = [name for name in picked if name not in case.acceptable_skills]
    if not case.should_activate:
        right = not decisive and not routed.unread
        return _figures(right, float(right), float(right), right)
    hits = [name for name in decisive if name in case.expected_skills]
    passed = bool(hits) or len(decisive) < len(picked)
    precision = len(hits) / len(decisive) if decisive else float(bool(picked))
    recall = float(passed)
    if case.required_skills:
        hits_required = sum(name in picked for name in case.required_skills)
        recall = hits_required / len(case.required_skills)
        passed = hits_required == len(case.required_skills)
    return _figures(passed, precision, recall, passed and precision == 1.0)


def _figures(passed: bool, precision: float, recall: float, exact: bool) -> dict[str, Any]:
    both = precision + recall
    return {
        "passed": passed,
        "precision": rounded(precision),
        "recall": rounded(recall),
        "f1": rounded(2 * precision * recall / both) if both else 0.0,
        "exact": exact,
    }


def activation_summary(cases: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the summary by skill, and ``_overall``: means over cases, rates with intervals.

    Cases with errors and cases that were skipped count in ``errors`` alone. A skill's true
    positive rate is over the cases that expect it; its false positive rate over all the others
    that do not accept it.
    """
    all_cases = list(cases)
    groups = _by_id(case for case in all_cases if case["passed"] is not None)
    failed = sum(bool(case["errors"]) for case in all_cases)
    summary = {OVERALL: {**_overall(groups), "errors": failed}}
    for skill in sorted({name for case in all_cases for name in case["expected_skills"]}):
        summary[skill] = _for_skill(skill, groups, all_cases)
    return summary


def _by_id(cases: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for case in cases:
        groups.setdefault(case["id"], []).append(case)
    return list(groups.values())


def _overall(groups: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    positives = [group for group in groups if group[0]["should_activate"]]
    negatives = [group for group in groups if not group[0]["should_activate"]]
    f1 = [_mean(group, "f1") for group in groups]
    return {
        "mean": rounded(mean_of(f1)) if f1 else None,
        "stddev": rounded(spread_of(f1)),
        "n": len(groups),
        "precision": _over(positives, "precision"),
        "recall": _over(positives, "recall"),
        "f1": _over(positives, "f1"),
        **_rate("tpr", [_mean(group, "passed") for group in positives]),
        **_rate("fpr", [1.0 - _mean(group, "passed") for group in negatives]),
        "accuracy": _over(groups, "passed"),
        "exact_set_rate": _over(groups, "exact"),
        "positives": len(positives),
        "negatives": len(negatives),
    }


def _for_skill(
    skill: str,
    groups: Sequence[Sequence[Mapping[str, Any]]],
    all_cases: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    expecting = [group for group in groups if skill in group[0]["expected_skills"]]
    others = [
        group
        for group in groups
        if skill not in (*group[0]["expected_skills"], *group[0]["acceptable_skills"])
        and group[0]["about"] in (None, skill)
    ]
    fired_rates = [
        mean_of([float(skill in case["picked"]) for case in group]) for group in expecting
    ]
    false_rates = [mean_of([float(skill in case["picked"]) for case in group]) for group in others]
    f1 = [_mean(group, "f1") for group in expecting]
    return {
        "mean": rounded(mean_of(f1)) if f1 else None,
        "stddev": rounded(spread_of(f1)),
        "n": len(expecting),
        **_rate("tpr", fired_rates),
        **_rate("fpr", false_rates),
        "positives": len(expecting),
        "negatives": len(others),
        "errors": sum(
            bool(case["errors"]) for case in all_cases if skill in case["expected_skills"]
        ),
    }


def activation_artifacts(
    cases: Iterable[Mapping[str, Any]], index: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the report shows beside the summary: categories, and a curve for a scorer."""
    decided = [case for case in cases if case["passed"] is not None]
    categories = {
        name: {
            "n": len(groups),
            "accuracy": _over(groups, "passed"),
            "f1": _over(groups, "f1"),
        }
        for name in sorted({case["category"] for case in decided})
        for groups in [_by_id(case for case in decided if case["category"] == name)]
    }
    return {"index": dict(index), "categories": categories, "curve": _curve(decided)}


def _curve(cases: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return recall, false positive rate and precision at every threshold on the best score.

    At a threshold the skill in the first place is picked when its score reaches it. Empty for
    routers without scores, and for trigger sets, which ask about one skill each.
    """
    scored = [
        case
        for case in cases
        if case["confidence"] is not None and case["about"] is None and not case["run_index"]
    ]
    positives = [case for case in scored if case["should_activate"]]
    negatives = [case for case in scored if not case["should_activate"]]
    values = sorted({float(case["confidence"]) for case in scored})
    step = max(1, -(-len(values) // CURVE_POINTS))
    return [_point(threshold, positives, negatives) for threshold in values[::step]]


def _point(
    threshold: float,
    positives: Sequence[Mapping[str, Any]],
    negatives: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    fired = [case for case in positives if case["confidence"] >= threshold]
    right = sum(
        case["best"] in (*case["expected_skills"], *case["acceptable_skills"]) for case in fired
    )
    wrong = sum(case["confidence"] >= threshold for case in negatives)
    fires = len(fired) + wrong
    return {
        "threshold": threshold,
        "recall": rounded(right / len(positives)) if positives else None,
        "fpr": rounded(wrong / len(negatives)) if negatives else None,
        "precision": rounded(right / fires) if fires else None,
    }


def _mean(group: Sequence[Mapping[str, Any]], field: str) -> float:
    return mean_of([float(case[field]) for case in group])


def _over(groups: Sequence[Sequence[Mapping[str, Any]]], field: str) -> float | None:
    return rounded(mean_of([_mean(group, field) for group in groups])) if groups else None


def _rate(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """Return a share of cases with its Wilson interval; a case half of whose runs pass is half."""
    if not values:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    low, high = wilson(round(sum(values)), len(values))
    return {
        name: rounded(mean_of(values)),
        f"{name}_low": rounded(low),
        f"{name}_high": rounded(high),
    }
