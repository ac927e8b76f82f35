"""The words of a verdict, read off its intervals."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.statistics.intervals import level_for
from skillyard.evals.statistics.verdicts import (
    BETTER,
    EQUIVALENT,
    NOT_ENOUGH,
    WORSE,
    is_enough,
    word_for,
)
from tests.tables import for_each


@for_each(
    ("interval", "bounded", "word", "enough"),
    [
        (None, None, NOT_ENOUGH, False),
        ((0.1, 1.0), None, BETTER, False),
        ((-1.0, -0.1), (-1.5, 0.4), WORSE, False),
        ((-0.1, 0.1), (-0.2, 0.2), EQUIVALENT, True),
        ((0.05, 0.2), (-0.5, 0.25), EQUIVALENT, True),
        ((-0.2, -0.05), (-0.25, 0.5), EQUIVALENT, False),
        ((0.05, 0.2), (-0.5, 0.35), BETTER, False),
        ((0.0, 0.0), (-1.8, 1.8), NOT_ENOUGH, False),
        ((-0.1, 1.0), None, NOT_ENOUGH, False),
        ((-1.0, 0.1), (-1.5, 0.2), NOT_ENOUGH, True),
        ((-0.1, 0.1), (-0.3, 0.2), NOT_ENOUGH, True),
        ((0.0, 1.0), None, NOT_ENOUGH, False),
        ((-0.1, 0.1), (-0.2, 0.3), NOT_ENOUGH, False),
    ],
)
def test_words(
    interval: tuple[float, float] | None,
    bounded: tuple[float, float] | None,
    word: str,
    enough: bool,
) -> None:
    assert (word_for(interval, bounded), is_enough(bounded)) == (word, enough)


ENDS = st.floats(-4, 4)


@given(ENDS, ENDS, st.floats(0, 2), st.floats(0, 2), st.floats(0, 1))
def test_statements_never_contradict_each_other(
    one: float, other: float, below: float, above: float, margin: float
) -> None:
    interval = (min(one, other), max(one, other))
    bounded = (interval[0] - below, interval[1] + above)
    word = word_for(interval, bounded, margin)
    if word == BETTER:
        assert not is_enough(bounded, margin), "the smaller arm is not enough"
    if is_enough(bounded, margin):
        assert word != BETTER
    turned = {BETTER: WORSE, WORSE: BETTER}.get(word, word)
    opposite = word_for((-interval[1], -interval[0]), (-bounded[1], -bounded[0]), margin)
    assert opposite == turned


def test_the_intervals_of_all_skills_hold_together() -> None:
    assert level_for(1) == 0.95
    assert level_for(12) == 1 - 0.05 / 12
