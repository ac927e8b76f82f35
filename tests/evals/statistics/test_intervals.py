"""Intervals of means and shares: against scipy's and published figures, and their laws."""

from __future__ import annotations

import random
import sys
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import InvalidInput
from skillyard.base.sums import wilson
from skillyard.evals.statistics.intervals import independent, t_interval
from tests.tables import for_each

POINTS = st.floats(-4, 4).map(lambda value: round(value, 4))


def drawn(count: int, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return [rng.expovariate(1) - 0.6 for _ in range(count)]


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
    for name in ("numpy", "scipy", "scipy.special"):
        monkeypatch.setitem(sys.modules, name, None)  # as where it is not installed
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=5e-5)
    with pytest.raises(InvalidInput, match=r"need scipy.*pip install .*\[eval\]( @ [^']*)?'"):
        t_interval([1.0, 2.0])


def test_t_is_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    for count in (2, 3, 9):
        values = drawn(count)
        mean, error = sum(values) / count, stats.sem(values)
        expected = stats.t.interval(0.95, count - 1, loc=mean, scale=error)
        assert t_interval(values) == pytest.approx(expected)


def test_runs_are_averaged_before_anything_is_concluded() -> None:
    assert independent({"a": [1.0] * 50, "b": [3.0], "c": []}) == [1.0, 3.0]
    assert independent({"a": [1.0, 2.0]}) == [1.0, 2.0], "of one prompt its runs count"


@for_each("value", [inf, nan])
def test_a_value_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(InvalidInput, match="finite"):
        independent({"a": [1.0, value]})
