"""Intervals of means and shares: published figures, and their laws."""

from __future__ import annotations

import random
import sys
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.base.sums import wilson
from skillyard.errors import InvalidInput
from skillyard.evals.statistics.intervals import (
    RARE,
    mean_interval,
    rare_intervals,
    t_interval,
    t_quantile,
    t_share,
)
from tests.evals.statistics.planting import allowed
from tests.tables import for_each


@for_each(
    ("successes", "n", "low", "high"),
    # Figures of Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611),
     (1, 29, 0.0061, 0.1718)],
)  # fmt: skip
def test_wilson_gives_the_published_intervals(
    successes: int, n: int, low: float, high: float
) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 200), st.integers(0, 200))
def test_wilson_holds_the_share_and_mirrors(wins: int, losses: int) -> None:
    n = wins + losses
    low, high = wilson(wins, n)  # without trials it knows nothing: 0 to 1
    assert 0 <= low <= high <= 1
    assert low <= (wins / n if n else 0.5) <= high
    mirrored = wilson(losses, n)
    assert (1 - high, 1 - low) == pytest.approx(mirrored, abs=1e-12)


def test_the_interval_for_rare_prompts_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)  # as where it is not installed
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=5e-5)
    with pytest.raises(InvalidInput, match=r"need numpy.*pip install .*\[eval\]( @ [^']*)?'"):
        rare_intervals((1.0, 2.0))


@for_each(
    ("freedom", "quantile"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (11, 2.2010), (30, 2.0423), (500, 1.9647)],
)
def test_quantiles_of_student_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert t_quantile(0.025, freedom) == pytest.approx(quantile, abs=5e-5)
    assert t_share(quantile, freedom) == pytest.approx(0.05, abs=2e-5)


def test_equal_values_have_no_interval() -> None:
    assert mean_interval([1.0] * 20) == (None, None)
    assert mean_interval([1.0]) == (None, None)
    low, high = mean_interval([1.0, 2.0] * 10)
    assert (low, high) == pytest.approx((1.25992, 1.74008), abs=1e-5)


def test_the_interval_of_skewed_values_is_moved_towards_their_longer_tail() -> None:
    """By the formula of Chen 1995, worked out by hand for the skewness of -1/√2."""
    values = [0.3] * 8 + [-2.2] * 4
    plain, moved = t_interval(values, 0.05), t_interval(values, 0.05, skewed=True)
    assert plain is not None
    error = (plain[1] - plain[0]) / 2 / t_quantile(0.05, 11)
    by = (11 / 12) ** 1.5 / 2**0.5 * (1 + 2 * t_quantile(0.05, 11) ** 2) / (6 * 12**0.5) * error
    assert moved == pytest.approx((plain[0] - by, plain[1] - by))
    assert t_interval([-value for value in values], 0.05, skewed=True) == pytest.approx(
        (by - plain[1], by - plain[0])
    )
    assert t_interval([1.0, 1.0], 0.05, skewed=True) == (1.0, 1.0)


def test_values_that_are_not_finite_are_refused() -> None:
    with pytest.raises(InvalidInput, match="finite"):
        t_interval([1.0, float("nan")], 0.05)


@for_each(("share", "prompts"), [(0.12, 12), (0.1, 20)])
def test_rare_harm_is_within_the_interval_as_often_as_it_says(share: float, prompts: int) -> None:
    """Each end errs at most in 15 of 100 runs; a t interval of 95 % errs in one of five."""
    pytest.importorskip("numpy")
    rng = random.Random(prompts)
    runs, alone, missed = 400, 0, 0
    mean = 0.3 * (1 - share) - 2.7 * share
    for _ in range(runs):
        values = [-2.7 if rng.random() < share else 0.3 + rng.gauss(0, 0.1) for _ in range(prompts)]
        interval = t_interval(values, 0.025)
        assert interval is not None
        alone += interval[0] > mean
        missed += rare_intervals(tuple(values), 2.7, 1.3)[0][0] > mean
    assert missed / runs <= allowed(RARE, runs)
    assert alone / runs > missed / runs


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=40).map(tuple))
def test_more_room_below_only_lowers_the_lower_end(values: tuple[float, ...]) -> None:
    pytest.importorskip("numpy")
    (near, wide), (far, _) = rare_intervals(values, 2, 2), rare_intervals(values, 4, 2)
    assert far[0] <= near[0] <= fmean(values) <= near[1] == far[1]
    assert wide[0] <= near[0]
    assert near[1] <= wide[1]
    turned, _ = rare_intervals(tuple(-value for value in values), 2, 2)
    assert turned == pytest.approx((-near[1], -near[0]), abs=0.05)
