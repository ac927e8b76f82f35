"""The words of a verdict, read off its intervals, and the 5 % that the statements share."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.statistics.verdicts import (
    BETTER,
    EQUIVALENT,
    NOT_ENOUGH,
    WORSE,
    ArmComparison,
    share_chances,
    word_for,
)
from tests.tables import for_each


@for_each(
    ("interval", "near", "word"),
    [
        (None, None, NOT_ENOUGH),
        ((0.1, 1.0), (0.2, 0.9), BETTER),
        ((-1.0, -0.1), (-0.9, -0.2), WORSE),
        ((-0.3, 0.3), (-0.2, 0.2), EQUIVALENT),
        ((0.05, 0.2), (0.1, 0.15), BETTER),
        ((-0.2, -0.05), (-0.15, -0.1), WORSE),
        ((0.0, 0.6), (0.1, 0.5), NOT_ENOUGH),
        ((-0.6, 0.3), (-0.5, 0.2), NOT_ENOUGH),
    ],
)
def test_words(
    interval: tuple[float, float] | None, near: tuple[float, float] | None, word: str
) -> None:
    assert word_for(interval, near, 0.5) == word


ENDS = st.floats(-4, 4)


@given(ENDS, ENDS, st.floats(0, 1))
def test_swapped_arms_swap_the_word(one: float, other: float, margin: float) -> None:
    interval = (min(one, other), max(one, other))
    turned = (-interval[1], -interval[0])
    swapped = {BETTER: WORSE, WORSE: BETTER}
    word = word_for(interval, interval, margin)
    assert word_for(turned, turned, margin) == swapped.get(word, word)


CLEAR, NOTHING, LEVEL = (1.4, 1.6) * 6, (-1.4, 1.6, 0.1) * 4, (-0.1, 0.1) * 15


def comparison(name: str, values: Sequence[float]) -> ArmComparison:
    first, second = name.split("/")
    values = tuple(values)
    return ArmComparison(first, second, 0, 0, 1, 0.0, values, (1.5, 1.5), 0.5)


def test_an_end_that_decides_nothing_reaches_farther() -> None:
    """Where a fifth of the prompts gains 3 points, and none was seen, .92 of intervals held."""
    pytest.importorskip("numpy")
    for values in (CLEAR, LEVEL):
        each = comparison("full/baseline", values)
        assert each.interval is not None
        low, high = each.interval
        assert high >= each.rare(0.05)[1] > each.rare()[1]
        assert low == pytest.approx(each.rare()[0] if values == CLEAR else each.rare(0.05)[0])


def test_skills_share_the_five_per_cent_and_a_decided_one_passes_its_part_on() -> None:
    skills = {"a": CLEAR, "b": NOTHING, "c": NOTHING}
    compared = {
        name: {"full/baseline": comparison("full/baseline", v)} for name, v in skills.items()
    }
    shared = share_chances(compared, {**dict.fromkeys(compared, 1), "not reached": 1})
    chances = {name: each["full/baseline"].chance for name, each in shared.items()}
    assert chances["a"] == pytest.approx(0.05 / 4)
    assert chances["b"] == chances["c"] == pytest.approx(0.05 / 4 * 7 / 6)
    near = {name: each["full/baseline"].near_chance for name, each in shared.items()}
    assert near["a"] == pytest.approx(0.05 / 4 / 2)
    assert near["b"] == near["c"] == pytest.approx(0.05 / 4 / 2 * 6 / 5)
    assert share_chances(compared, dict.fromkeys(compared, 1), looks=3)["a"][
        "full/baseline"
    ].chance == pytest.approx(0.05 / 9)


def test_all_skills_decided_have_the_whole_of_what_is_not_passed_on() -> None:
    compared = {
        name: {"full/baseline": comparison("full/baseline", CLEAR)} for name in ("a", "b", "c")
    }
    shared = share_chances(compared, dict.fromkeys(compared, 1))
    near = [each["full/baseline"].near_chance for each in shared.values()]
    assert near == [pytest.approx(0.05 / 3)] * 3


@for_each(("headline", "counts"), [(CLEAR, True), (NOTHING, False)])
def test_sizes_are_compared_once_the_skill_is_known_to_change_anything(
    headline: Sequence[float], counts: bool
) -> None:
    compared = {
        "a": {
            "full/baseline": comparison("full/baseline", headline),
            "full/summary": comparison("full/summary", LEVEL),
            "summary/baseline": comparison("summary/baseline", headline),
        }
    }
    own = share_chances(compared, {"a": 3})["a"]
    assert (own["full/baseline"].chance, own["full/baseline"].near_chance) == (0.05, 0.025)
    assert own["full/summary"].chance == own["summary/baseline"].chance == 0.0125
    assert own["full/summary"].enough == counts
    assert own["full/summary"].word == (EQUIVALENT if counts else NOT_ENOUGH)
