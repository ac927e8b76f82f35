"""Power: the figures of the specification, inverses of each other, and t tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from skillyard.evals.statistics.intervals import (
    equivalence_units,
    least_units,
    planned_verdicts,
    prompts_needed,
    units_needed,
)
from skillyard.evals.statistics.verdicts import ArmComparison
from tests.tables import for_each


@for_each(("effect", "units"), [(1.0, 10), (0.5, 34)])
def test_the_published_numbers_of_cases_for_a_spread_of_one_point(
    effect: float, units: int
) -> None:
    assert units_needed(effect, 1.0) == units


@for_each(("skills", "units"), [(1, 5), (3, 6), (12, 8), (100, 10)])
def test_the_fewest_prompts_for_two_points_grow_with_the_skills(skills: int, units: int) -> None:
    assert least_units(0.05 / skills) == units
    assert units_needed(2.0, 1.0, 0.05 / skills) == units


@for_each(("margin", "units"), [(0.3, 97), (0.5, 36)])
def test_equivalence_takes_the_prompts_of_two_one_sided_tests(margin: float, units: int) -> None:
    assert equivalence_units(1.0, margin=margin) == units


def test_what_cannot_be_shown_needs_no_number() -> None:
    assert units_needed(0.0, 1.0) is None
    assert units_needed(1e-6, 1.0) is None
    assert equivalence_units(1.0, mean=0.5) is None


def test_no_spread_leaves_what_rare_prompts_hide() -> None:
    assert units_needed(1.0, 0.0) == 6
    assert (equivalence_units(0.0), equivalence_units(0.0, margin=1.0)) == (9, 4)


@for_each(("values", "shorter"), [((0.0, 2.0), units_needed), ((-1.0, 1.0), equivalence_units)])
def test_a_new_run_goes_the_shorter_way(values: tuple[float, float], shorter: Any) -> None:
    compared = ArmComparison("full", "baseline", 1, 1, 0, 1.0, values, (2.5, 2.5), 0.5)
    figures = (1.0, 2**0.5) if shorter is units_needed else (2**0.5,)
    assert compared.study == shorter(*figures)
    hopeless = replace(compared, values=(-1e9, 1e9 + 1.2))
    assert hopeless.study is None


def test_five_prompts_of_twelve_skills_decide_nothing() -> None:
    plans = planned_verdicts({f"s{number:02}": 5 for number in range(12)})
    assert not any(plan.can_decide for plan in plans)
    assert plans[0].message == ("5 prompts, 12 skills: too few for a verdict on it alone; 8 needed")


def test_five_prompts_of_one_skill_are_enough() -> None:
    (plan,) = planned_verdicts({"tea": 5})
    assert (plan.can_decide, plan.message) == (
        True,
        "5 prompts: enough to find two points 4 times in 5",
    )


def test_the_number_of_prompts_for_an_effect_grows_with_the_skills() -> None:
    single, twelve = prompts_needed(0.5), prompts_needed(0.5, skills=12)
    assert (single.least, single.to_find) == (5, 34)
    assert twelve.least == 8
    assert twelve.to_find is not None
    assert twelve.to_find > 34
    assert prompts_needed(0.0).to_find is None
    assert single.to_dict()["schema"] == "skillyard.eval-prompts/1"
