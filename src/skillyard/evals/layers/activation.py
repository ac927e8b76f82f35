"""L3, activation: whether the router picks the right skills, and none where none fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from skillyard.evals.cases.activation import ActivationCase
from skillyard.evals.cases.layer_cases import CasePlaces, read_activation_cases
from skillyard.evals.cases.sampling import sample
from skillyard.evals.layers.case_run import CaseTask
from skillyard.evals.layers.datasets import check_known, require_cases
from skillyard.evals.layers.protocol import Layer, Summary
from skillyard.evals.layers.router import Router, RouterChoice, index_text, routed_skills
from skillyard.evals.layers.routing import (
    RoutingLayer,
    mean_and_spread,
    mean_over_cases,
    mean_over_runs,
    rate,
    rounded,
    routing_task,
    runs_by_case,
    skill_digests,
)
from skillyard.evals.layers.work import CaseResult, Work
from skillyard.evals.regression.measures import Measure, Values, values_by_case
from skillyard.evals.statistics.intervals import mean_of
from skillyard.evals.statistics.pairs import OVERALL

if TYPE_CHECKING:
    from skillyard.engine.catalog import Catalog
    from skillyard.evals.cases.labels import Label
    from skillyard.evals.config_values import ActivationLimits, Regression
    from skillyard.evals.report.layer_view import LayerView
    from skillyard.evals.settings import RunSettings


class ActivationLayer(RoutingLayer):
    """L3: requests, each with the skills that it should activate."""

    def read(self, settings: RunSettings, places: CasePlaces, catalog: Catalog) -> Work:
        """Return the activation cases."""
        data = require_cases(read_activation_cases(places, catalog), places)
        cases: Sequence[ActivationCase] = data.cases
        if settings.skill is not None:
            known = {name for case in cases for name in _skills_of(case)}
            check_known("--skill", settings.skill, known)
            cases = [case for case in cases if settings.skill in _skills_of(case)]
        sampled = sample(
            cases,
            settings.limit,
            seed=settings.seed,
            layer="activation",
            key=lambda case: case.id,
            is_positive=lambda case: case.should_activate,
        )
        digests = skill_digests(catalog, None)
        return Work(settings, catalog, sampled, data.sha256, digests, data.diagnostics)

    def tasks(self, work: Work, routers: Mapping[str, Router]) -> list[CaseTask]:
        """Return one request for each case."""
        return [_task(case, routers[""]) for case in work.cases]

    def summarise(self, cases: list[CaseResult], work: Work, labels: Sequence[Label]) -> Summary:
        """Return the rates by skill; the artifacts are the index and the categories."""
        index = _index_size(work, cases)
        return activation_summary(cases), activation_artifacts(cases, index)

    def measures(self, cases: Sequence[CaseResult], rules: Regression) -> Iterator[Measure]:
        """Yield true and false positive rates of all requests, and of each skill."""
        decided = [case for case in cases if case["passed"] is not None]
        positives = [case for case in decided if case["should_activate"]]
        negatives = [case for case in decided if not case["should_activate"]]
        limits = rules.activation
        yield from _rates(
            OVERALL,
            values_by_case(positives, lambda case: case["passed"]),
            values_by_case(negatives, lambda case: not case["passed"]),
            limits,
        )
        for skill in sorted({name for case in decided for name in case["expected_skills"]}):

            def fires(case: CaseResult, skill: str = skill) -> bool:
                return skill in case["picked"]

            expecting = [case for case in decided if skill in case["expected_skills"]]
            others = [case for case in decided if _is_other(skill, case)]
            yield from _rates(
                skill, values_by_case(expecting, fires), values_by_case(others, fires), limits
            )

    def view(self, envelope: Mapping[str, object]) -> LayerView:
        """Return the rates, as they are shown."""
        from skillyard.evals.report.routing import activation_layer_view

        return activation_layer_view(envelope)


def _rates(
    entity: str, positives: Values, negatives: Values, limits: ActivationLimits
) -> Iterator[Measure]:
    least = limits.min_cases
    yield Measure(entity, "tpr", "lower", True, positives, limits.tpr_drop, least, largest=1)
    yield Measure(entity, "fpr", "higher", True, negatives, limits.fpr_increase, least, largest=1)


def _is_other(skill: str, case: Mapping[str, Any]) -> bool:
    """True for a request at which the skill should not fire."""
    expected = (*case["expected_skills"], *case["acceptable_skills"])
    return skill not in expected and case.get("about") in (None, skill)


def _skills_of(case: ActivationCase) -> tuple[str, ...]:
    about = (case.about,) if case.about is not None else ()
    return (*case.expected_skills, *case.acceptable_skills, *about)


def _task(case: ActivationCase, router: Router) -> CaseTask:
    candidates = tuple(dict.fromkeys((*case.expected_skills, *case.acceptable_skills)))
    head: dict[str, Any] = {
        "id": case.id,
        "user_prompt": case.user_prompt,
        "category": case.category,
        "expected_skills": list(case.expected_skills),
        "acceptable_skills": list(case.acceptable_skills),
        "required_skills": list(case.required_skills),
        "should_activate": case.should_activate,
        "about": case.about,
        "missing": [],
        "precision": None,
        "recall": None,
        "f1": None,
        "exact": None,
        "best": None,
    }
    return routing_task(router, case.user_prompt, candidates, head, partial(_outcome, case))


def _outcome(case: ActivationCase, choice: RouterChoice) -> dict[str, Any]:
    fields = {"best": choice.best}
    return fields if choice.error else {**fields, **_score(case, choice)}


def _index_size(work: Work, cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the size of the index that a model saw; for a scorer the number of skills."""
    if not work.settings.asks_models:
        return {"skills": work.catalog.counts.skills, "characters": None, "input_tokens": None}
    index = index_text(routed_skills(work.catalog))
    counted = [tokens for case in cases if (tokens := case.get("input_tokens")) is not None]
    return {
        "skills": len(index.names),
        "characters": len(index.text),
        "input_tokens": round(sum(counted) / len(counted)) if counted else None,
    }


def _score(case: ActivationCase, choice: RouterChoice) -> dict[str, Any]:
    """Return the measures of one choice.

    It passes if any expected or acceptable skill is picked (evals.md §1.14), and with
    ``required_skills`` if all of these are. Precision is the share of the picked skills that are
    expected. Recall is the share of the expected skills that are picked, or of the required ones
    where they are named. Acceptable skills do not change precision, unless nothing else is picked:
    then they count as expected. For recall they count as one expected skill if none is picked. If
    no skill should be picked, an unreadable reply fails.
    """
    picked = list(choice.picked)
    if case.about is not None:
        picked = [name for name in picked if name == case.about]
    decisive = [name for name in picked if name not in case.acceptable_skills]
    if not case.should_activate:
        right = not decisive and not choice.unread
        return _figures(right, float(right), float(right))
    hits = [name for name in decisive if name in case.expected_skills]
    accepted = len(decisive) < len(picked)
    precision = len(hits) / len(decisive) if decisive else float(bool(picked))
    expected = case.required_skills or case.expected_skills
    missing = [name for name in expected if name not in picked]
    if case.required_skills:
        passed = not missing
        recall = 1 - len(missing) / len(expected)
    else:
        passed = bool(hits) or accepted
        recall = max(len(hits), int(accepted)) / max(1, len(expected))
    named = {} if recall == 1.0 else {"missing": missing}
    return {**_figures(passed, precision, recall), **named}


def _figures(passed: bool, precision: float, recall: float) -> dict[str, Any]:
    both = precision + recall
    return {
        "passed": passed,
        "precision": rounded(precision),
        "recall": rounded(recall),
        "f1": rounded(2 * precision * recall / both) if both else 0.0,
        "exact": passed and precision == recall == 1.0,
    }


def activation_summary(cases: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the summary by skill, and ``_overall``: means over cases, rates with intervals.

    Cases with errors and cases that were skipped count in ``errors`` alone. A skill's true
    positive rate is over the cases that expect it; its false positive rate over all the others
    that do not accept it. ``f1`` is the mean of the F1 of the cases that expect a skill (macro
    average): the one F1 that terminal and report show. ``mean`` is the mean over all cases.
    """
    all_cases = list(cases)
    decided = runs_by_case(case for case in all_cases if case["passed"] is not None)
    summary = {OVERALL: {**_overall(decided), "errors": _errors(all_cases)}}
    for skill in sorted({name for case in all_cases for name in case["expected_skills"]}):
        of_skill = [case for case in all_cases if skill in case["expected_skills"]]
        summary[skill] = {**_for_skill(skill, decided), "errors": _errors(of_skill)}
    return summary


def _errors(cases: Sequence[Mapping[str, Any]]) -> int:
    return sum(bool(case["errors"]) for case in cases)


def _overall(decided: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    positives = [runs for runs in decided if runs[0]["should_activate"]]
    negatives = [runs for runs in decided if not runs[0]["should_activate"]]
    return {
        **mean_and_spread([mean_over_runs(runs, "f1") for runs in decided]),
        "n": len(decided),
        "precision": mean_over_cases(positives, "precision"),
        "recall": mean_over_cases(positives, "recall"),
        "f1": mean_over_cases(positives, "f1"),
        **rate("tpr", [mean_over_runs(runs, "passed") for runs in positives]),
        **rate("fpr", [1.0 - mean_over_runs(runs, "passed") for runs in negatives]),
        "accuracy": mean_over_cases(decided, "passed"),
        "exact_set_rate": mean_over_cases(decided, "exact"),
        "positives": len(positives),
        "negatives": len(negatives),
    }


def _for_skill(skill: str, decided: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    expecting = [runs for runs in decided if skill in runs[0]["expected_skills"]]
    others = [runs for runs in decided if _is_other(skill, runs[0])]

    def fired(cases: Sequence[Sequence[Mapping[str, Any]]]) -> list[float]:
        return [mean_of([float(skill in case["picked"]) for case in runs]) for runs in cases]

    return {
        **mean_and_spread([mean_over_runs(runs, "f1") for runs in expecting]),
        "n": len(expecting),
        "f1": mean_over_cases(expecting, "f1"),
        **rate("tpr", fired(expecting)),
        **rate("fpr", fired(others)),
        "positives": len(expecting),
        "negatives": len(others),
    }


def activation_artifacts(
    cases: Iterable[Mapping[str, Any]], index: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the report shows beside the summary: the size of the index, and categories."""
    by_category: dict[str, list[Mapping[str, Any]]] = {}
    for case in cases:
        if case["passed"] is not None:
            by_category.setdefault(case["category"], []).append(case)
    categories = {}
    for name in sorted(by_category):
        of_category = runs_by_case(by_category[name])
        categories[name] = {
            "n": len(of_category),
            "accuracy": mean_over_cases(of_category, "passed"),
            "f1": mean_over_cases(of_category, "f1"),
        }
    return {"index": dict(index), "categories": categories}


ACTIVATION: Layer = ActivationLayer()
