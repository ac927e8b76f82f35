"""Power: the figures of the specification, inverses of each other, and t tests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.statistics.planning import (
    POWER,
    equivalence_units,
    least_units,
    more_units,
    planned_verdicts,
    prompts_needed,
    smallest_detectable,
    units_needed,
)
from tests.tables import for_each


@for_each(("effect", "units"), [(1.0, 10), (0.5, 34), (0.25, 128)])
def test_the_published_numbers_of_cases_for_a_spread_of_one_point(
    effect: float, units: int
) -> None:
    assert units_needed(effect, 1.0) == units


@for_each(("skills", "units"), [(1, 6), (2, 7), (3, 7), (12, 9), (100, 12)])
def test_the_fewest_prompts_that_can_show_anything_grow_with_the_skills(
    skills: int, units: int
) -> None:
    """No result below that reaches the corrected level: 2 / 2**n is the smallest p."""
    assert least_units(skills) == units
    assert 2 / 2**units <= 0.05 / skills < 2 / 2 ** (units - 1)
    assert smallest_detectable(1.0, units - 1, skills) is None


@given(st.integers(9, 400), st.floats(0.01, 5), st.sampled_from([1, 3, 12]))
def test_the_smallest_detectable_effect_needs_just_so_many_prompts(
    units: int, spread: float, skills: int
) -> None:
    effect = smallest_detectable(spread, units, skills)
    assert effect is not None
    assert units_needed(effect * 1.000001, spread, skills) == units


@for_each(("units", "skills"), [(8, 1), (12, 3), (30, 12)])
def test_the_power_is_that_of_simulated_t_tests(units: int, skills: int) -> None:
    stats, np = pytest.importorskip("scipy.stats"), pytest.importorskip("numpy")
    effect = smallest_detectable(1.0, units, skills)
    values = np.random.RandomState(3).normal(effect, 1.0, size=(20_000, units))
    share = (stats.ttest_1samp(values, 0, axis=1).pvalue <= 0.05 / skills).mean()
    assert share == pytest.approx(POWER, abs=0.03)


def test_what_cannot_be_shown_needs_no_number() -> None:
    assert smallest_detectable(0.0, 10) is None
    assert units_needed(0.0, 1.0) is None
    assert units_needed(1e-6, 1.0) is None
    assert equivalence_units(1.0, mean=0.3) is None
    assert more_units(0.3, 1e9, 10) is None


def test_no_spread_needs_the_fewest_prompts() -> None:
    assert units_needed(1.0, 0.0) == units_needed(100.0, 1.0) == least_units(1)
    # So many differences of 0 leave less than 0.3 points to rare prompts: 4 * (1 - q ** (1 / n)).
    assert (equivalence_units(0.0), equivalence_units(0.0, 12)) == (48, 80)


def test_equivalence_takes_more_prompts_than_a_large_difference() -> None:
    single, twelve = equivalence_units(0.8), equivalence_units(0.8, 12)
    assert single is not None
    assert twelve is not None
    assert 10 < single < twelve
    wide = equivalence_units(0.8, margin=0.6)
    assert wide is not None
    assert wide < single


def test_more_prompts_go_the_shorter_way() -> None:
    clear = units_needed(1.0, 1.0)
    assert clear is not None
    assert more_units(1.0, 1.0, 6) == clear - 6
    nothing = equivalence_units(1.0)
    assert nothing is not None
    assert more_units(0.0, 1.0, 6) == nothing - 6
    assert more_units(1.0, 1.0, 500) == 1


def test_five_prompts_of_twelve_skills_decide_nothing() -> None:
    plans = planned_verdicts({f"s{number:02}": 5 for number in range(12)})
    assert not any(plan.can_decide for plan in plans)
    assert plans[0].message == "5 prompts, 12 skills: no outcome can count; 9 needed"


def test_ten_prompts_of_one_skill_find_a_point() -> None:
    (plan,) = planned_verdicts({"tea": 10})
    assert plan.can_decide
    assert plan.message == "10 prompts: finds a difference of 1.0 points 4 times in 5"


def test_the_number_of_prompts_for_an_effect_grows_with_the_skills() -> None:
    single, twelve = prompts_needed(0.5), prompts_needed(0.5, skills=12)
    assert (single.least, single.to_find) == (6, 34)
    assert twelve.least == 9
    assert twelve.to_find is not None
    assert twelve.to_find > 34
    assert prompts_needed(0.0).to_find is None
    assert single.to_dict()["schema"] == "skillyard.eval-prompts/1"
