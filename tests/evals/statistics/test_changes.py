"""Every measure against its limit and against chance (evals.md §1.16)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.layers.activation import ACTIVATION
from skillyard.evals.layers.pairs import SIZE_IMPACT
from skillyard.evals.layers.work import load_layer
from skillyard.evals.settings import EffectivenessLimits, Regression
from skillyard.evals.statistics.changes import (
    FALSE_ALARMS,
    Measure,
    MeasureChange,
    changes_of_measures,
)
from tests.evals.statistics.planting import Judge, allowed, run_of
from tests.tables import for_each

pytest.importorskip("numpy")

DEFAULTS = Regression()


def measure(values: Sequence[float], worse: str = "lower", **limits: Any) -> Measure:
    cases = {str(n): [value] for n, value in enumerate(values)}
    return Measure("entity", "rate", worse, cases, **limits)


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
    before = Measure("e", "mean", "lower", {str(n): [2.0] * runs for n in range(cases)})
    after = Measure("e", "mean", "lower", {str(n): [0.0] * runs for n in range(cases)})
    result = change(before, after)
    assert result.status == status
    assert ("cannot tell" in result.message) == (status == "cannot tell")


def test_the_configured_number_of_values_is_needed_on_both_sides() -> None:
    result = change(measure([1.0] * 20), measure([0.0] * 20, least=50))
    assert (result.status, result.before) == ("cannot tell", None)
    assert "50 are needed on both sides" in result.message


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


def test_the_measures_of_pairs_are_those_of_the_headline() -> None:
    arms = [("full", "baseline"), ("full", "summary")]
    cases = run_of(Judge(), 1, skills=2, prompts=3, runs=2, comparisons=arms)
    measures = list(SIZE_IMPACT.measures(cases, DEFAULTS))
    assert [(each.entity, each.measure) for each in measures] == [
        ("_overall", "full/baseline"),
        ("skill-00", "full/baseline"),
        ("skill-01", "full/baseline"),
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


TENTHS = st.integers(-20, 20)
RUNS = st.tuples(st.lists(TENTHS, min_size=1, max_size=2), st.lists(TENTHS, min_size=1, max_size=2))


def p_of_all_deals(cases: list[tuple[list[int], list[int]]]) -> tuple[float, float]:
    """Return the exact p of a fall and of a rise: over every way to deal out the answers."""
    ways = []
    for before, after in cases:
        both = [*after, *before]
        chosen = [set(each) for each in combinations(range(len(both)), len(after))]
        # Twelfths: whole numbers for any of these counts.
        ways.append(
            [
                sum(12 * x // len(after) if n in each else -12 * x // len(before)
                    for n, x in enumerate(both))
                for each in chosen
            ]
        )  # fmt: skip
    sums = [sum(deal) for deal in product(*ways)]
    return (
        sum(each <= sums[0] for each in sums) / len(sums),
        sum(each >= sums[0] for each in sums) / len(sums),
    )


@given(st.lists(RUNS, min_size=1, max_size=4))
def test_its_p_is_the_share_of_all_deals(cases: list[tuple[list[int], list[int]]]) -> None:
    before, after = (
        {str(place): [value / 10 for value in each[now]] for place, each in enumerate(cases)}
        for now in (0, 1)
    )
    result = change(Measure("e", "m", "lower", before), Measure("e", "m", "lower", after))
    assert result.change is not None
    fall, rise = p_of_all_deals(cases)
    exact = fall if result.change < 0 else rise
    # Random deals: four standard errors of a share of 10,000.
    assert result.p_adjusted == pytest.approx(
        exact, abs=4 * (exact * (1 - exact) / 1e4) ** 0.5 + 2e-4
    )


def test_cases_of_one_run_only_are_left_out() -> None:
    before = Measure("e", "m", "lower", {"a": [1.0], "b": [2.0], "c": []})
    result = change(before, Measure("e", "m", "lower", {"a": [0.5], "c": [1.0]}))
    assert (result.cases, result.before, result.after) == (1, 1.0, 0.5)
    nothing = change(Measure("e", "m", "lower", {"a": [1.0]}), Measure("e", "m", "lower", {}))
    assert (nothing.status, nothing.before) == ("cannot tell", None)


def family(rng: random.Random, skills: int, fall: float) -> tuple[list[Measure], list[Measure]]:
    """Return measures before and now, of which the first falls."""
    before, after = (
        [
            Measure(f"{skill:02}", "m", "lower", {
                f"{skill}#{prompt}": [
                    rng.gauss(0 if skill else -fall * now, 1.0) for _ in range(2)
                ]
                for prompt in range(8)
            })
            for skill in range(skills)
        ]
        for now in (0, 1)
    )  # fmt: skip
    return before, after


def test_neither_the_order_of_measures_nor_a_copy_of_one_changes_anything() -> None:
    """A case is dealt alike in all measures, so a copy is corrected for nothing."""
    before, after = family(random.Random(1), 4, 0.5)
    expected = changes_of_measures("effectiveness", before, after)
    assert changes_of_measures("effectiveness", before[::-1], after[::-1]) == expected
    copies = [[*each, replace(each[0], entity="copy")] for each in (before, after)]
    assert changes_of_measures("effectiveness", *copies)[:4] == expected


def test_unchanged_skills_are_seldom_accused_and_a_fall_among_twelve_is_found() -> None:
    rng = random.Random(8)
    trials, alarms, result = 100, 0, 0
    for _ in range(trials):
        changes = changes_of_measures("effectiveness", *family(rng, 12, 0.0))
        alarms += any(each.status == "regression" for each in changes)
        first = changes_of_measures("effectiveness", *family(rng, 12, 2.0))[0]
        result += first.status == "regression"
    assert alarms / trials <= allowed(FALSE_ALARMS, trials)
    assert result / trials > 0.9
