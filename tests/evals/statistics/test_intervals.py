"""Intervals: against scipy's, their laws, and the method that each number of prompts gets."""

from __future__ import annotations

import random
import sys
from math import inf, nan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InvalidInput
from skillyard.evals.statistics.intervals import (
    BOOTSTRAP,
    ONE_PROMPT,
    STUDENT,
    TOO_FEW,
    bca_interval,
    mean_interval,
    t_interval,
    wilson,
)
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


@for_each("count", [10, 25])
def test_bca_as_published_is_scipys_within_the_error_of_resampling(count: int) -> None:
    stats, np = pytest.importorskip("scipy.stats"), pytest.importorskip("numpy")
    values = drawn(count)
    theirs = stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=40_000, rng=np.random.default_rng(5)
    ).confidence_interval
    ours = bca_interval(values, 5, expanded=False)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.04)


def test_the_expanded_tails_make_it_wider() -> None:
    pytest.importorskip("scipy")
    values = drawn(12)
    plain, wide = bca_interval(values, 3, expanded=False), bca_interval(values, 3)
    assert wide[0] < plain[0] < plain[1] < wide[1]


@given(st.lists(POINTS, min_size=2, max_size=30), st.randoms(use_true_random=False))
def test_laws_of_the_mean_interval(values: list[float], rng: random.Random) -> None:
    pytest.importorskip("scipy")
    units = {number: [value] for number, value in enumerate(values)}
    found = mean_interval(units, 9)
    assert found.mean is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.mean <= found.high
    shuffled = list(units.items())
    rng.shuffle(shuffled)
    assert mean_interval(dict(shuffled), 9) == found, "the order of units does not matter"
    negated = mean_interval({key: [-value for value in given] for key, given in units.items()}, 9)
    assert (negated.mean, negated.low, negated.high) == (-found.mean, -found.high, -found.low)


@for_each(
    ("units", "method"),
    [
        ({}, TOO_FEW),
        ({"a": []}, TOO_FEW),
        ({"a": [1.0]}, TOO_FEW),
        ({"a": [1.0, 2.0]}, ONE_PROMPT),
        ({"a": [1.0, 2.0], "b": []}, ONE_PROMPT),
        ({"a": [1.0], "b": [2.0]}, STUDENT),
        ({str(n): [n / 10] for n in range(9)}, STUDENT),
        ({str(n): [n / 10] for n in range(10)}, BOOTSTRAP),
    ],
    ids=lambda value: str(len(value)) if isinstance(value, dict) else "",
)
def test_the_method_follows_from_the_number_of_prompts(
    units: dict[str, list[float]], method: str
) -> None:
    pytest.importorskip("scipy")
    assert mean_interval(units, 1).method == method


def test_runs_are_averaged_before_anything_is_concluded() -> None:
    pytest.importorskip("scipy")
    many = mean_interval({"a": [1.0] * 50, "b": [3.0]}, 1)
    few = mean_interval({"a": [1.0], "b": [3.0]}, 1)
    assert (many.mean, many.low, many.high) == (few.mean, few.low, few.high)
    assert (many.mean, many.units, many.n) == (2.0, 2, 51)
    assert many.spread == pytest.approx(sqrt(2))


def test_prompts_that_agree_entirely_give_an_interval_without_width() -> None:
    pytest.importorskip("scipy")
    for value in (0.1, -0.1, 1e-300):
        found = mean_interval({n: [value] for n in range(12)} | {99: [value, value]}, 1)
        assert found.low == found.mean == found.high == pytest.approx(value, rel=1e-12)
        assert found.spread == 0.0
    assert bca_interval([1e-310] + [3e-310] * 11, 1)[0] >= 0, "and nothing is divided by nothing"


@for_each("value", [inf, nan])
def test_a_value_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(InvalidInput, match="finite"):
        mean_interval({"a": [1.0, value]}, 1)
