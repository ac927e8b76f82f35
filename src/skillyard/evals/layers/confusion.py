"""L4, confusion: which skill of a group of similar skills is picked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from skillyard.evals.cases.confusion import ConfusionCase
from skillyard.evals.layers.router import Routed, Router
from skillyard.evals.layers.routing_run import RoutingRun, RoutingTask, result_fields, rounded
from skillyard.evals.statistics.intervals import mean_of, spread_of, wilson

__all__ = ["ConfusionRun", "Findings", "confusion_artifacts", "confusion_summary"]

PAIR_SHARE = 0.2
"""A pair is confused when more than this share of a skill's requests goes to another one."""
ODD_SHARE = 0.2
"""Multiple picks, or none, are a finding from this share of a group's requests on."""
RIVALS = 2
"""A skill discriminates badly when so many others get at least as many of its requests."""


class ConfusionRun(RoutingRun):
    """The run of confusion cases.

    ``routers`` has the router of each group. A negative without a group is routed in every group.
    """

    def __init__(
        self,
        cases: Sequence[ConfusionCase],
        groups: Mapping[str, tuple[str, ...]],
        routers: Mapping[str, Router],
        *,
        runs: int = 1,
        on_case: Callable[[dict[str, Any]], None] = lambda case: None,
    ) -> None:
        tasks = [
            RoutingTask(
                partial(_head, case, group),
                partial(_route, case, groups[group], routers[group]),
            )
            for case in cases
            for group in ([case.group] if case.group else groups)
        ]
        super().__init__(tasks, runs=runs, on_case=on_case)


def _route(
    case: ConfusionCase, members: tuple[str, ...], router: Router, run: int
) -> dict[str, Any]:
    return _outcome(case, members, router.route(case.user_prompt, members, run))


def _head(case: ConfusionCase, group: str, run: int) -> dict[str, Any]:
    return {
        "id": case.id if case.group else f"{case.id}/{group}",
        "group": group,
        "run_index": run,
        "user_prompt": case.user_prompt,
        "expected_skill": case.expected_skill,
        "acceptable_skills": list(case.acceptable_skills),
        "picked": [],
        "dropped": [],
        "predicted": None,
        "outside": [],
        "passed": None,
        "confidence": None,
        "fallback": False,
        "cost": 0.0,
        "generations": [],
        "errors": [],
        "skipped": None,
    }


def _outcome(case: ConfusionCase, members: Sequence[str], routed: Routed) -> dict[str, Any]:
    """Return the result of one choice. The first pick is the prediction (evals.md §1.14)."""
    predicted = routed.picked[0] if routed.picked else None
    inside = [name for name in routed.picked if name in members]
    outside = [name for name in routed.picked if name not in members]
    fields = {
        **result_fields(routed),
        "predicted": predicted,
        "outside": [*outside, *routed.dropped],
    }
    if routed.error:
        return fields
    if case.expected_skill is None:
        return {**fields, "passed": not inside and not routed.unread}
    return {**fields, "passed": predicted in (case.expected_skill, *case.acceptable_skills)}


@dataclass(frozen=True, slots=True)
class _Group:
    """The positive cases of a group that were answered."""

    name: str
    skills: tuple[str, ...]
    cases: tuple[Mapping[str, Any], ...]

    def row(self, skill: str) -> list[Mapping[str, Any]]:
        return [case for case in self.cases if case["expected_skill"] == skill]

    def count(self, expected: str, predicted: str) -> int:
        return sum(case["predicted"] == predicted for case in self.row(expected))


def _groups(
    cases: Iterable[Mapping[str, Any]], groups: Mapping[str, tuple[str, ...]]
) -> list[_Group]:
    decided = [case for case in cases if case["passed"] is not None and case["expected_skill"]]
    return [
        _Group(name, skills, tuple(case for case in decided if case["group"] == name))
        for name, skills in groups.items()
    ]


def confusion_summary(
    cases: Iterable[Mapping[str, Any]], groups: Mapping[str, tuple[str, ...]]
) -> dict[str, dict[str, Any]]:
    """Return the summary by group: accuracy, and the requests that other skills take."""
    all_cases = list(cases)
    summary = {}
    for group in _groups(all_cases, groups):
        passed = _by_request(group.cases)
        low, high = wilson(round(sum(passed)), len(passed))
        summary[group.name] = {
            "mean": rounded(mean_of(passed)) if passed else None,
            "stddev": rounded(spread_of(passed)),
            "n": len(passed),
            "accuracy": rounded(mean_of(passed)) if passed else None,
            "low": rounded(low) if passed else None,
            "high": rounded(high) if passed else None,
            "cross_activation": {skill: _cross(group, skill) for skill in group.skills},
            "requests": {skill: len(_by_request(group.row(skill))) for skill in group.skills},
            **_odd_counts(group),
            "errors": sum(
                bool(case["errors"]) for case in all_cases if case["group"] == group.name
            ),
        }
    return summary


def _by_request(cases: Sequence[Mapping[str, Any]]) -> list[float]:
    requests: dict[str, list[float]] = {}
    for case in cases:
        requests.setdefault(case["id"], []).append(float(case["passed"]))
    return [mean_of(values) for values in requests.values()]


def _cross(group: _Group, skill: str) -> float | None:
    """Return the share of a skill's requests for which another skill of the group is picked."""
    row = group.row(skill)
    if not row:
        return None
    others = sum(case["predicted"] in group.skills and case["predicted"] != skill for case in row)
    return rounded(others / len(row))


def _odd_counts(group: _Group) -> dict[str, int]:
    return {
        "no_activation": sum(not case["picked"] for case in group.cases),
        "multi_activation": sum(len(case["picked"]) > 1 for case in group.cases),
        "out_of_group": sum(bool(case["outside"]) for case in group.cases),
    }


def confusion_artifacts(
    cases: Iterable[Mapping[str, Any]], groups: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    """Return the matrices, the findings and the results of the negatives.

    ``matrix[i][j]`` counts the requests for skill ``i`` whose first pick was skill ``j``.
    """
    all_cases = list(cases)
    grouped = _groups(all_cases, groups)
    matrices = {
        group.name: {
            "skills": list(group.skills),
            "matrix": [
                [group.count(row, column) for column in group.skills] for row in group.skills
            ],
            **_odd_counts(group),
        }
        for group in grouped
    }
    findings = [finding for group in grouped for finding in Findings(group).all()]
    return {
        "confusion_matrices": matrices,
        "findings": findings,
        "negatives": _negatives(all_cases),
    }


def _negatives(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    decided = [case for case in cases if case["passed"] is not None and not case["expected_skill"]]
    passed = _by_request(decided)
    low, high = wilson(round(len(passed) - sum(passed)), len(passed))
    return {
        "n": len(passed),
        "fired": rounded(1 - mean_of(passed)) if passed else None,
        "low": rounded(low) if passed else None,
        "high": rounded(high) if passed else None,
    }


class Findings:
    """What stands out in one group, in a fixed order (evals.md §1.14)."""

    def __init__(self, group: _Group) -> None:
        self._group = group

    def all(self) -> list[dict[str, Any]]:
        """Return pairs, low discrimination, never predicted, multiple, none, out of group."""
        return [*self._pairs(), *self._low(), *self._never(), *self._odd()]

    def _pairs(self) -> Iterable[dict[str, Any]]:
        for expected in self._group.skills:
            total = len(self._group.row(expected))
            for predicted in self._group.skills:
                count = self._group.count(expected, predicted)
                if predicted != expected and total and count / total > PAIR_SHARE:
                    yield self._finding(
                        "pair",
                        f"{count} of {total} requests for {expected} go to {predicted}",
                        [expected, predicted],
                    )

    def _low(self) -> Iterable[dict[str, Any]]:
        for skill in self._group.skills:
            if not self._group.row(skill):
                continue
            own = self._group.count(skill, skill)
            rivals = [
                other
                for other in self._group.skills
                if other != skill and self._group.count(skill, other) >= max(own, 1)
            ]
            if len(rivals) >= RIVALS:
                yield self._finding(
                    "low_discrimination",
                    f"requests for {skill} go as often to {' and to '.join(rivals)}",
                    [skill, *rivals],
                )

    def _never(self) -> Iterable[dict[str, Any]]:
        for skill in self._group.skills:
            if self._group.row(skill) and not any(
                self._group.count(other, skill) for other in self._group.skills
            ):
                yield self._finding(
                    "never_predicted",
                    f"{skill} is never the first pick, not even for its own",
                    [skill],
                )

    def _odd(self) -> Iterable[dict[str, Any]]:
        total = len(self._group.cases)
        counts = _odd_counts(self._group)
        if total and counts["multi_activation"] / total > ODD_SHARE:
            message = f"{counts['multi_activation']} of {total} requests pick several skills"
            yield self._finding("multi", message, [])
        if total and counts["no_activation"] / total > ODD_SHARE:
            message = f"{counts['no_activation']} of {total} requests pick none"
            yield self._finding("none", message, [])
        if counts["out_of_group"]:
            names = sorted({name for case in self._group.cases for name in case["outside"]})
            message = f"{counts['out_of_group']} of {total} requests pick skills outside the group"
            yield self._finding("out_of_group", message, names)

    def _finding(self, kind: str, message: str, skills: Sequence[str]) -> dict[str, Any]:
        return {
            "group": self._group.name,
            "kind": kind,
            "message": message,
            "skills": list(skills),
        }
