"""Intervals of means and shares: published figures, and their laws."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import InvalidInput
from skillyard.base.sums import wilson
from skillyard.evals.statistics.intervals import mean_interval
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


def test_wilson_without_trials_knows_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@for_each(("successes", "n"), [(-1, 3), (4, 3), (0, -1)])
def test_wilson_refuses_impossible_counts(successes: int, n: int) -> None:
    with pytest.raises(InvalidInput, match="0 <= successes <= n"):
        wilson(successes, n)


@given(st.integers(0, 200), st.integers(0, 200))
def test_wilson_holds_the_share_and_mirrors(wins: int, losses: int) -> None:
    n = wins + losses
    low, high = wilson(wins, n)
    assert 0 <= low <= high <= 1
    if n:
        assert low <= wins / n <= high
    mirrored = wilson(losses, n)
    assert (1 - high, 1 - low) == pytest.approx(mirrored, abs=1e-12)


def test_wilson_needs_no_library_and_the_others_name_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)  # as where it is not installed
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=5e-5)
    with pytest.raises(InvalidInput, match=r"need numpy.*pip install .*\[eval\]( @ [^']*)?'"):
        mean_interval([1.0, 2.0], 1)


def test_equal_values_have_no_interval() -> None:
    pytest.importorskip("numpy")
    assert mean_interval([1.0] * 20, 1) == (None, None)
    low, high = mean_interval([1.0, 2.0] * 10, 1)
    assert low is not None
    assert high is not None
    assert 1 < low < 1.5 < high < 2
