"""The interval that holds for rare prompts: laws, known cases, and its level where others fail."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.statistics.intervals import bounded_interval, subset_means
from tests.evals.statistics.planting import allowed
from tests.tables import for_each

pytest.importorskip("numpy")

Draw = Callable[[random.Random], float]
RARE_GAIN: Draw = lambda rng: 4.0 if rng.random() < 0.1 else 0.0  # noqa: E731
RARE_LOSS: Draw = lambda rng: -4.0 if rng.random() < 0.1 else 0.4  # noqa: E731


@given(st.lists(st.floats(-4, 4), min_size=1, max_size=30))
def test_laws(values: list[float]) -> None:
    low, high = bounded_interval(values, 1, level=0.95)
    mean = sum(values) / len(values)
    assert -4 - 1e-9 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= 4 + 1e-9
    turned = bounded_interval([-value for value in values], 1, level=0.95)
    assert turned == pytest.approx((-high, -low))
    assert bounded_interval(values[::-1], 1, level=0.95) == (low, high)


@for_each("count", [6, 20, 60])
def test_of_zeros_it_is_the_largest_share_that_may_have_been_missed(count: int) -> None:
    """4 points at a share q are missed by all prompts with chance (1 - q) ** count."""
    _, high = bounded_interval([0.0] * count, 1, level=0.95)
    assert high == pytest.approx(4 * (1 - 0.025 ** (1 / count)), rel=0.05)


@for_each(("draw", "mean"), [(RARE_GAIN, 0.4), (RARE_LOSS, -0.04)], ids=["gain", "loss"])
@for_each("count", [6, 10, 30])
def test_it_holds_where_the_interval_of_symmetric_values_does_not(
    draw: Draw, mean: float, count: int
) -> None:
    rng = random.Random(count)
    trials = 400
    missed = symmetric = 0
    for _ in range(trials):
        values = [draw(rng) for _ in range(count)]
        low, high = bounded_interval(values, 1, level=0.95)
        missed += not low <= mean <= high
        interval = subset_means(values, 1).interval(0.95)
        assert interval is not None
        symmetric += not interval[0] <= mean <= interval[1]
    assert missed / trials <= allowed(0.05, trials)
    assert count > 10 or symmetric / trials > 0.2


def test_many_values_need_little_memory() -> None:
    low, high = bounded_interval([0.1, -0.1] * 2_000, 1, level=0.95)
    assert -0.1 < low < 0 < high < 0.1
