"""A run in looks keeps its promise: stopping early does not make more false statements."""

from __future__ import annotations

import random

import pytest

from skillyard.evals.layers.looks import LOOKS, look_sizes
from skillyard.evals.statistics.intervals import level_for, subset_means
from skillyard.evals.statistics.verdicts import BETTER, WORSE, word_for
from tests.evals.statistics.planting import allowed
from tests.tables import for_each

pytest.importorskip("numpy")


@for_each(
    ("prompts", "skills", "sizes"),
    [(30, 1, (7, 18, 30)), (8, 1, (7, 8)), (7, 1, (7,)), (3, 1, (3,)), (30, 12, (11, 20, 30))],
)
def test_the_first_look_is_where_a_result_can_count(
    prompts: int, skills: int, sizes: tuple[int, ...]
) -> None:
    assert look_sizes(prompts, skills) == sizes


def share_decided(effect: float, level: float, trials: int) -> float:
    """Return the share of runs that stop with better or worse."""
    rng = random.Random(4)
    decided = 0
    for _ in range(trials):
        values = [rng.gauss(effect, 0.8) for _ in range(20)]
        words = [
            word_for(subset_means(values[:size], 1, level=level).interval(level), None)
            for size in look_sizes(20, 1)
        ]
        decided += BETTER in words or WORSE in words
    return decided / trials


def test_looking_three_times_raises_no_more_false_alarms_than_looking_once() -> None:
    trials = 600
    assert share_decided(0.0, level_for(LOOKS), trials) <= allowed(0.05, trials)
    assert share_decided(0.0, level_for(1), trials) > 0.06, "which looking uncorrected does"
    assert share_decided(1.0, level_for(LOOKS), 100) > 0.95
