"""Every measure against its limit and against chance (evals.md §1.16)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from skillyard.evals.config_values import EffectivenessLimits, Regression
from skillyard.evals.layers.activation import ACTIVATION
from skillyard.evals.layers.pairs import SIZE_IMPACT
from skillyard.evals.layers.work import load_layer
from skillyard.evals.regression.changes import Measure, MeasureChange, changes_of_measures
from tests.evals.statistics.planting import Judge, run_of
from tests.tables import for_each

pytest.importorskip("numpy")

DEFAULTS = Regression()


def measure(values: Sequence[float], worse: str = "lower", **limits: Any) -> Measure:
    cases = {str(n): [value] for n, value in enumerate(values)}
    return Measure("entity", "rate", worse, True, cases, **limits)


def change(before: Measure, after: Measure) -> MeasureChange:
    (only,) = changes_of_measures("effectiveness", [before], [after])
    return only


@for_each(("worse", "limit"), [("lower", 0.5), ("lower", 0.1), ("higher", 0.05)])
def test_a_change_above_the_limit_counts_and_one_at_it_does_not(worse: str, limit: float) -> None:
    sign = -1 if worse == "lower" else 1
    before = measure([0.7] * 12, worse)
    for step, status in ((limit, "unchanged"), (limit + 0.001, "regression")):
        after = measure([0.7 + sign * step] * 12, worse, threshold=limit)
        assert change(before, after).status == status
    after = measure([0.7 - sign * (limit + 0.001)] * 12, worse, threshold=limit)
    assert change(before, after).status == "improvement"


def test_the_limits_of_each_layer_are_those_of_the_configuration() -> None:
    arms = {"effectiveness": ("enhanced", "baseline"), "size_impact": ("full", "baseline")}
    rules = Regression(effectiveness=EffectivenessLimits(0.7, 3.0, 4))
    for name, limits in (("effectiveness", (0.7, 4, 3.0)), ("size_impact", (0.5, 3, 0.0))):
        cases = run_of(Judge(), 1, prompts=3, comparisons=[arms[name]])
        for each in load_layer(name).measures(cases, rules):
            assert (each.threshold, each.least, each.spreads) == limits
    cases = [activation_case(1, ["tea"], ["tea"]), activation_case(3, [], ["tea"])]
    for each in ACTIVATION.measures(cases, rules):
        assert (each.threshold, each.least) == ({"tpr": 0.10, "fpr": 0.05}[each.measure], 5)


def test_a_large_change_of_few_cases_is_not_more_than_chance() -> None:
    before = measure([1.0, 1.2, 0.8, 1.1, 0.9, 1.0])
    after = measure([-1.0, 3.0, 0.9, -1.0, 1.1, -1.0])
    result = change(before, after)
    assert result.change is not None
    assert abs(result.change) > 0.5
    assert (result.status, result.p_adjusted is not None) == ("unchanged", True)


def test_a_limit_may_be_given_in_spreads_of_the_baseline() -> None:
    before = measure([4.0, 5.0] * 6)
    fall = [2.4, 3.4] * 6
    assert change(before, measure(fall, spreads=3.0)).status == "regression"
    assert change(before, measure(fall, spreads=3.1)).status == "unchanged"


@for_each(
    ("cases", "runs", "status"),
    [(3, 1, "cannot tell"), (3, 3, "regression"), (5, 1, "regression")],
)
def test_too_small_a_set_cannot_tell_and_more_runs_help(cases: int, runs: int, status: str) -> None:
    before = Measure("e", "mean", "lower", True, {str(n): [2.0] * runs for n in range(cases)})
    after = Measure("e", "mean", "lower", True, {str(n): [0.0] * runs for n in range(cases)})
    result = change(before, after)
    assert result.status == status
    assert ("cannot tell" in result.message) == (status == "cannot tell")


def test_the_configured_number_of_values_is_needed_on_both_sides() -> None:
    result = change(measure([1.0] * 20), measure([0.0] * 20, least=50))
    assert (result.status, result.before) == ("cannot tell", None)
    assert "50 are needed on both sides" in result.message


def test_the_interval_of_a_rate_ends_where_rates_do() -> None:
    result = change(measure([0.0] * 8), measure([1.0] * 7 + [0.0], "higher", largest=1.0))
    assert result.low is not None
    assert 0 < result.low < 1
    assert result.high == 1.0


def test_a_measure_that_is_only_shown_is_no_regression() -> None:
    shown = Measure("e", "full/summary", "lower", False, {str(n): [2.0] for n in range(8)})
    fallen = Measure("e", "full/summary", "lower", False, {str(n): [0.0] for n in range(8)})
    assert change(shown, fallen).status == "worse"


def activation_case(number: int, expected: list[str], picked: list[str], **more: Any) -> Any:
    right = bool(set(expected) & set(picked)) if expected else not picked
    return {
        "id": f"c{number}", "run_index": 0, "should_activate": bool(expected), "passed": right,
        "expected_skills": expected, "acceptable_skills": [], "picked": picked, "about": None,
        **more,
    }  # fmt: skip


def test_the_measures_of_activation_are_by_skill_and_over_all() -> None:
    cases = [
        activation_case(1, ["tea"], ["tea"]),
        activation_case(2, ["tea"], []),
        activation_case(3, [], ["tea"]),
        activation_case(4, ["rice"], ["rice"], passed=None),
    ]
    measures = {(each.entity, each.measure): each for each in ACTIVATION.measures(cases, DEFAULTS)}
    assert measures["_overall", "tpr"].cases == {"c1": [1.0], "c2": [0.0]}
    assert measures["_overall", "fpr"].cases == {"c3": [1.0]}
    assert measures["tea", "tpr"].cases == {"c1": [1.0], "c2": [0.0]}
    assert measures["tea", "fpr"].cases == {"c3": [1.0]}
    assert ("rice", "tpr") not in measures, "a case that failed is no evidence"


def test_the_measures_of_pairs_gate_the_headline_alone() -> None:
    arms = [("full", "baseline"), ("full", "summary")]
    cases = run_of(Judge(), 1, skills=2, prompts=3, runs=2, comparisons=arms)
    measures = list(SIZE_IMPACT.measures(cases, DEFAULTS))
    assert [(each.entity, each.measure, each.gate) for each in measures] == [
        ("_overall", "full/baseline", True),
        ("skill-00", "full/baseline", True),
        ("skill-00", "full/summary", False),
        ("skill-01", "full/baseline", True),
        ("skill-01", "full/summary", False),
    ]
    assert len(measures[0].cases) == 6
    assert all(len(values) == 2 for values in measures[1].cases.values())


def test_a_case_is_known_by_what_is_asked_and_not_by_its_place() -> None:
    (case,) = run_of(Judge(), 1, prompts=1)
    moved = {**case, "prompt_index": 7, "case_sha256": "d"}

    def keys(case: dict[str, Any]) -> set[str]:
        return {key for each in SIZE_IMPACT.measures([case], DEFAULTS) for key in each.cases}

    assert keys({**case, "case_sha256": "d"}) == keys(moved) == {"d"}
    assert keys(case) == {"skill-00#0"}, "results of earlier releases have no digest"


def test_a_measure_in_which_no_case_differs_has_no_interval_in_its_sentence() -> None:
    same = measure([1.0, 0.0] * 10)
    message = change(same, same).message
    assert "(+0, no case differs, which does not show that others would not," in message
    assert "interval" not in message
