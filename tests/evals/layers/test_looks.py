"""A run in looks keeps its promise: stopping early does not make more false statements."""

from __future__ import annotations

import random

import pytest

from skillyard.evals.layers.looks import LOOKS, look_sizes
from skillyard.evals.statistics.intervals import hull, rare_interval, t_interval
from skillyard.evals.statistics.verdicts import BETTER, WORSE, word_for
from tests.evals.statistics.planting import allowed
from tests.tables import for_each

pytest.importorskip("numpy")


@for_each(
    ("prompts", "skills", "sizes"),
    [(30, 1, (6, 18, 30)), (7, 1, (6, 7)), (6, 1, (6,)), (3, 1, (3,)), (30, 12, (9, 20, 30))],
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
            word_for(interval, interval, 0.0)
            for size in look_sizes(20, 1)
            if (
                interval := hull(
                    t_interval(values[:size], level), rare_interval(values[:size], 2.5, 1.5)
                )
            )
        ]
        decided += BETTER in words or WORSE in words
    return decided / trials


def test_looking_three_times_raises_no_more_false_alarms_than_looking_once() -> None:
    trials = 600
    assert share_decided(0.0, 1 - 0.05 / LOOKS, trials) <= allowed(0.05, trials)
    assert share_decided(0.0, 0.95, trials) > 0.055, "which looking uncorrected does"
    assert share_decided(1.0, 1 - 0.05 / LOOKS, 100) > 0.95
