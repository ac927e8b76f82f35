"""L4, confusion: which skill of a group of similar skills is picked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from skillyard.evals.cases.confusion import ConfusionCase, groups_of
from skillyard.evals.cases.layer_cases import CasePlaces, read_confusion_cases
from skillyard.evals.cases.sampling import sample
from skillyard.evals.layers.case_run import CaseTask
from skillyard.evals.layers.datasets import check_known, require_cases
from skillyard.evals.layers.protocol import Layer, Summary
from skillyard.evals.layers.router import Router, RouterChoice
from skillyard.evals.layers.routing import (
    RoutingLayer,
    mean_and_spread,
    mean_over_runs,
    rate,
    rounded,
    routing_task,
    runs_by_case,
    skill_digests,
)
from skillyard.evals.layers.work import CaseResult, Work
from skillyard.evals.regression.measures import Measure, values_by_case

if TYPE_CHECKING:
    from skillyard.engine.catalog import Catalog
    from skillyard.evals.cases.labels import Label
    from skillyard.evals.config_values import Regression
    from skillyard.evals.report.layer_view import LayerView
    from skillyard.evals.settings import RunSettings

PAIR_SHARE = 0.2
"""A pair is confused when more than this share of a skill's requests goes to another one."""
ODD_SHARE = 0.2
"""Multiple picks, or none, are a finding from this share of a group's requests on."""
RIVALS = 2
"""A skill discriminates badly when so many others get at least as many of its requests."""


class ConfusionLayer(RoutingLayer):
    """L4: requests that one skill of a group of similar skills should take."""

    def read(self, settings: RunSettings, places: CasePlaces, catalog: Catalog) -> Work:
        """Return the confusion cases and their groups."""
        data = require_cases(read_confusion_cases(places, catalog), places)
        groups = groups_of(data.cases)
        cases: Sequence[ConfusionCase] = data.cases
        if settings.group is not None:
            check_known("--group", settings.group, groups)
            groups = {settings.group: groups[settings.group]}
            cases = [case for case in cases if case.group in ("", settings.group)]
        sampled = sample(
            cases, settings.limit, seed=settings.seed, layer="confusion", key=lambda case: case.id
        )
        digests = skill_digests(catalog, groups if settings.index == "group" else None)
        return Work(settings, catalog, sampled, data.sha256, digests, data.diagnostics, groups)

    def tasks(self, work: Work, routers: Mapping[str, Router]) -> list[CaseTask]:
        """Return the requests. A negative without a group is a request in every group."""
        return [
            _task(case, group, work.groups[group], routers[group])
            for case in work.cases
            for group in ([case.group] if case.group else work.groups)
        ]

    def summarise(self, cases: list[CaseResult], work: Work, labels: Sequence[Label]) -> Summary:
        """Return the accuracy by group; the artifacts are matrices, findings and negatives."""
        return confusion_summary(cases, work.groups), confusion_artifacts(cases, work.groups)

    def measures(self, cases: Sequence[CaseResult], rules: Regression) -> Iterator[Measure]:
        """Yield the share of each skill's requests that another skill of its group takes."""
        limits = rules.confusion
        decided = [case for case in cases if case["passed"] is not None and case["expected_skill"]]
        for group, skill in sorted({(case["group"], case["expected_skill"]) for case in decided}):
            of_skill = [
                case
                for case in decided
                if case["group"] == group and case["expected_skill"] == skill
            ]
            yield Measure(
                group,
                f"cross_activation of {skill}",
                "higher",
                True,
                values_by_case(of_skill, _goes_to_another),
                limits.cross_activation_change,
                limits.min_cases,
                largest=1,
            )

    def view(self, envelope: Mapping[str, object]) -> LayerView:
        """Return the accuracy and the findings, as they are shown."""
        from skillyard.evals.report.routing import confusion_layer_view

        return confusion_layer_view(envelope)


def _goes_to_another(case: CaseResult) -> bool:
    predicted = case["predicted"]
    return predicted not in (None, case["expected_skill"], *case["outside"])


def _task(case: ConfusionCase, group: str, members: tuple[str, ...], router: Router) -> CaseTask:
    head: dict[str, Any] = {
        "id": case.id if case.group else f"{case.id}/{group}",
        "group": group,
        "user_prompt": case.user_prompt,
        "expected_skill": case.expected_skill,
        "acceptable_skills": list(case.acceptable_skills),
        "predicted": None,
        "outside": [],
    }
    score = partial(_outcome, case, members)
    return routing_task(router, case.user_prompt, members, head, score)


def _outcome(case: ConfusionCase, members: Sequence[str], choice: RouterChoice) -> dict[str, Any]:
    """Return the result of one choice. The first pick is the prediction (evals.md §1.14)."""
    predicted = choice.picked[0] if choice.picked else None
    inside = [name for name in choice.picked if name in members]
    outside = [name for name in choice.picked if name not in members]
    fields: dict[str, Any] = {"predicted": predicted, "outside": [*outside, *choice.dropped]}
    if choice.error:
        return fields
    if case.expected_skill is None:
        return {**fields, "passed": not inside and not choice.unread}
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

    def odd_counts(self) -> dict[str, int]:
        return {
            "no_activation": sum(not case["picked"] for case in self.cases),
            "multi_activation": sum(len(case["picked"]) > 1 for case in self.cases),
            "out_of_group": sum(bool(case["outside"]) for case in self.cases),
        }


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
        passed = _pass_rates(group.cases)
        errors = [case for case in all_cases if case["errors"] and case["group"] == group.name]
        summary[group.name] = {
            **mean_and_spread(passed),
            "n": len(passed),
            **rate("accuracy", passed, ends=""),
            "cross_activation": {skill: _cross(group, skill) for skill in group.skills},
            "requests": {skill: len(runs_by_case(group.row(skill))) for skill in group.skills},
            **group.odd_counts(),
            "errors": len(errors),
        }
    return summary


def _pass_rates(cases: Iterable[Mapping[str, Any]]) -> list[float]:
    return [mean_over_runs(runs, "passed") for runs in runs_by_case(cases)]


def _cross(group: _Group, skill: str) -> float | None:
    """Return the share of a skill's requests for which another skill of the group is picked."""
    row = group.row(skill)
    if not row:
        return None
    others = sum(case["predicted"] in group.skills and case["predicted"] != skill for case in row)
    return rounded(others / len(row))


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
            **group.odd_counts(),
        }
        for group in grouped
    }
    negatives = _pass_rates(
        case for case in all_cases if case["passed"] is not None and not case["expected_skill"]
    )
    return {
        "confusion_matrices": matrices,
        "findings": [
            {"group": group.name, "kind": kind, "message": message, "skills": skills}
            for group in grouped
            for kind, message, skills in _findings(group)
        ],
        "negatives": {
            "n": len(negatives),
            **rate("fired", [1.0 - passed for passed in negatives], ends=""),
        },
    }


Finding = tuple[str, str, list[str]]
"""Its kind, one sentence, and the skills that it is about."""


def _findings(group: _Group) -> Iterator[Finding]:
    """Yield what stands out in one group, in a fixed order (evals.md §1.14)."""
    yield from _confused_pairs(group)
    yield from _low_discrimination(group)
    for skill in group.skills:
        if group.row(skill) and not any(group.count(other, skill) for other in group.skills):
            message = f"{skill} is never the first pick, not even for its own"
            yield "never_predicted", message, [skill]
    yield from _odd_picks(group)


def _confused_pairs(group: _Group) -> Iterator[Finding]:
    for expected in group.skills:
        total = len(group.row(expected))
        for predicted in group.skills:
            count = group.count(expected, predicted)
            if predicted != expected and total and count / total > PAIR_SHARE:
                message = f"{count} of {total} requests for {expected} go to {predicted}"
                yield "pair", message, [expected, predicted]


def _low_discrimination(group: _Group) -> Iterator[Finding]:
    for skill in group.skills:
        if not group.row(skill):
            continue
        own = group.count(skill, skill)
        rivals = [
            other
            for other in group.skills
            if other != skill and group.count(skill, other) >= max(own, 1)
        ]
        if len(rivals) >= RIVALS:
            message = f"requests for {skill} go as often to {' and to '.join(rivals)}"
            yield "low_discrimination", message, [skill, *rivals]


def _odd_picks(group: _Group) -> Iterator[Finding]:
    total = len(group.cases)
    counts = group.odd_counts()
    multiple, none, outside = (
        counts[name] for name in ("multi_activation", "no_activation", "out_of_group")
    )
    if total and multiple / total > ODD_SHARE:
        yield "multi", f"{multiple} of {total} requests pick several skills", []
    if total and none / total > ODD_SHARE:
        yield "none", f"{none} of {total} requests pick none", []
    if outside:
        names = sorted({name for case in group.cases for name in case["outside"]})
        yield "out_of_group", f"{outside} of {total} requests pick skills outside the group", names


CONFUSION: Layer = ConfusionLayer()
