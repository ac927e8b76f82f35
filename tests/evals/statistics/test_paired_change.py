"""The paired test of two runs: against all deals, McNemar's test, and its laws."""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.statistics.paired_change import (
    FALSE_ALARMS,
    PairedValues,
    paired_changes,
    smallest_possible_p,
)
from tests.evals.statistics.planting import allowed

pytest.importorskip("numpy")

TENTHS = st.integers(-20, 20)
RUNS = st.tuples(st.lists(TENTHS, min_size=1, max_size=2), st.lists(TENTHS, min_size=1, max_size=2))


def p_by_deals(cases: list[tuple[list[int], list[int]]]) -> tuple[float, float]:
    """Return the exact p of a fall and of a rise."""
    ways = []
    for before, after in cases:
        both = [*after, *before]
        places = range(len(both))
        ways.append(
            [
                # Whole numbers: the difference of the means times the product of the counts.
                sum(both[place] for place in chosen) * len(before)
                - sum(both[place] for place in places if place not in chosen) * len(after)
                for chosen in combinations(places, len(after))
            ]
        )
    scale = [len(before) * len(after) for before, after in cases]
    sums = [
        sum(12 * value // each for value, each in zip(deal, scale, strict=True))
        for deal in product(*ways)
    ]
    seen = sums[0]
    return sum(each <= seen for each in sums) / len(sums), sum(each >= seen for each in sums) / len(
        sums
    )


@given(st.lists(RUNS, min_size=1, max_size=4))
def test_its_p_is_the_share_of_all_deals(cases: list[tuple[list[int], list[int]]]) -> None:
    before = {str(place): [value / 10 for value in each[0]] for place, each in enumerate(cases)}
    after = {str(place): [value / 10 for value in each[1]] for place, each in enumerate(cases)}
    measure = PairedValues(before, after)
    (change,) = paired_changes([measure])
    assert change is not None
    fall, rise = p_by_deals(cases)
    # Random deals: four standard errors of a share of 10,000.
    assert change.p_worse == pytest.approx(fall, abs=4 * (fall * (1 - fall) / 1e4) ** 0.5 + 2e-4)
    assert change.p_better == pytest.approx(rise, abs=4 * (rise * (1 - rise) / 1e4) ** 0.5 + 2e-4)
    assert (change.p_worse_adjusted, change.p_better_adjusted) == (change.p_worse, change.p_better)


def test_of_one_answer_that_passes_or_fails_it_is_mcnemars_exact_test() -> None:
    before = {str(place): [1.0] for place in range(20)}
    after = {str(place): [float(place >= 8)] for place in range(20)}
    before |= {"20": [0.0], "21": [0.0]}
    after |= {"20": [1.0], "21": [1.0]}
    (change,) = paired_changes([PairedValues(before, after)])
    assert change is not None
    assert change.p_worse == pytest.approx((45 + 10 + 1) / 2**10, abs=0.01)


def test_cases_of_one_run_only_are_left_out() -> None:
    one = PairedValues({"a": [1.0], "b": [2.0], "c": []}, {"a": [0.5], "c": [1.0]})
    change, nothing = paired_changes([one, PairedValues({"a": [1.0]}, {"b": [1.0]})])
    assert change is not None
    assert (change.cases, change.before, change.after) == (1, 1.0, 0.5)
    assert nothing is None


def test_three_prompts_run_once_can_show_nothing_and_run_three_times_they_can() -> None:
    once = {str(place): [1.0] for place in range(3)}
    thrice = {str(place): [1.0] * 3 for place in range(3)}
    assert smallest_possible_p(PairedValues(once, once)) == 1 / 8 > FALSE_ALARMS
    assert smallest_possible_p(PairedValues(thrice, thrice)) == 1 / 8_000


def family(rng: random.Random, skills: int, fall: float, noise: float = 1.0) -> list[PairedValues]:
    """Return measures of which the first falls."""
    measures = []
    for skill in range(skills):
        before, after = (
            {
                f"{skill}#{prompt}": [
                    rng.gauss(0 if skill else -fall * now, noise) for _ in range(2)
                ]
                for prompt in range(8)
            }
            for now in (0, 1)
        )
        measures.append(PairedValues(before, after))
    return measures


@given(st.integers(0, 50), st.integers(1, 6))
def test_the_interval_and_the_p_agree(seed: int, skills: int) -> None:
    for change in paired_changes(family(random.Random(seed), skills, 0.8)):
        assert change is not None
        assert change.low <= change.change <= change.high
        assert (change.high < 0) == (change.p_worse_adjusted <= FALSE_ALARMS)
        assert (change.low > 0) == (change.p_better_adjusted <= FALSE_ALARMS)
        assert change.p_worse <= change.p_worse_adjusted


def test_the_order_of_the_measures_changes_nothing() -> None:
    measures = family(random.Random(1), 4, 0.5)
    assert paired_changes(measures[::-1])[::-1] == paired_changes(measures)


def test_a_case_of_two_measures_is_dealt_alike_in_both() -> None:
    """So a measure beside its copy is corrected for nothing."""
    (measure,) = family(random.Random(2), 1, 0.5)
    (alone,) = paired_changes([measure])
    assert paired_changes([measure, measure]) == [alone, alone]


def test_unchanged_skills_are_seldom_accused_and_a_fall_among_twelve_is_found() -> None:
    rng = random.Random(8)
    trials, alarms, result = 200, 0, 0
    for _ in range(trials):
        changes = paired_changes(family(rng, 12, 0.0))
        alarms += any(
            each is not None and each.p_worse_adjusted <= FALSE_ALARMS for each in changes
        )
        first = paired_changes(family(rng, 12, 2.0))[0]
        assert first is not None
        result += first.p_worse_adjusted <= FALSE_ALARMS
    assert alarms / trials <= allowed(FALSE_ALARMS, trials)
    assert result / trials > 0.9
