"""The words of a verdict, read off its intervals, and the 5 % that the statements share."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from skillyard.evals.statistics.intervals import rare_intervals
from skillyard.evals.statistics.verdicts import (
    BETTER,
    EQUIVALENT,
    NOT_ENOUGH,
    WORSE,
    ArmComparison,
    share_chances,
)
from tests.tables import for_each

CLEAR, NOTHING, LEVEL = (1.4, 1.6) * 6, (-1.4, 1.6, 0.1) * 4, (-0.1, 0.1) * 15


def comparison(name: str, values: Sequence[float]) -> ArmComparison:
    first, second = name.split("/")
    values = tuple(values)
    return ArmComparison(first, second, 0, 0, 1, 0.0, values, (1.5, 1.5), 0.5)


@for_each(
    ("values", "word"),
    [
        ((1.0,), NOT_ENOUGH),
        (CLEAR, BETTER),
        (NOTHING, NOT_ENOUGH),
        (LEVEL, EQUIVALENT),
        ((0.2, 0.3) * 30, BETTER),
        ((0.0,) * 60, EQUIVALENT),
    ],
)
def test_words_and_swapped_arms_swap_the_word(values: Sequence[float], word: str) -> None:
    """A difference that is shown is named, however small."""
    pytest.importorskip("numpy")
    assert comparison("full/baseline", values).word == word
    opposite = {BETTER: WORSE}.get(word, word)
    assert comparison("baseline/full", [-value for value in values]).word == opposite


def test_an_end_that_decides_nothing_reaches_farther() -> None:
    """Where a fifth of the prompts gains 3 points, and none was seen, .92 of intervals held."""
    pytest.importorskip("numpy")
    for values in (CLEAR, LEVEL):
        each = comparison("full/baseline", values)
        assert each.interval is not None
        low, high = each.interval
        rare, wide = rare_intervals(each.values, *each.reach)
        assert high >= wide[1] > rare[1]
        assert low == pytest.approx(rare[0] if values == CLEAR else wide[0])


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
