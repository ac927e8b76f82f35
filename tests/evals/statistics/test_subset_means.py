"""Intervals from subset means: against every sign pattern written out, their laws, their level."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import InvalidInput
from skillyard.evals.statistics.intervals import EXACT, subset_means
from tests.property.strategies import many
from tests.tables import for_each

pytest.importorskip("numpy")

TENTHS = st.integers(-40, 40).map(lambda tenths: tenths / 10)


def p_by_patterns(tenths: list[int]) -> Fraction:
    """Return the exact two-sided p of the sign-flip test, by every pattern of signs."""
    sums = [
        sum(sign * value for sign, value in zip(signs, tenths, strict=True))
        for signs in product((1, -1), repeat=len(tenths))
    ]
    tail = sum(total >= abs(sum(tenths)) for total in sums)
    return min(Fraction(1), Fraction(2 * tail, len(sums)))


@many
@given(st.lists(st.integers(-40, 40), min_size=1, max_size=9))
def test_the_p_is_that_of_the_sign_flip_test(tenths: list[int]) -> None:
    # 0.1 + 0.2 is not 0.3 in floating point: equal sums must still count as equal.
    p = subset_means([value / 10 for value in tenths], 1).p_value()
    assert p == pytest.approx(float(p_by_patterns(tenths)), abs=1e-12)


@many
@given(
    st.lists(TENTHS, min_size=1, max_size=24),
    st.sampled_from([0.8, 0.95, 0.99]),
    st.randoms(use_true_random=False),
)
def test_laws(values: list[float], level: float, rng: random.Random) -> None:
    means = subset_means(values, 5, level=level)
    interval = means.interval(level)
    p = means.p_value()
    assert 2.0 ** (1 - len(values)) <= p * 1.0001 or len(values) > EXACT
    shuffled = list(values)
    rng.shuffle(shuffled)
    assert subset_means(shuffled, 5, level=level).interval(level) == interval
    turned = subset_means([-value for value in values], 5, level=level).interval(level)
    assert turned == (None if interval is None else (-interval[1], -interval[0]))
    if interval is not None:
        assert min(values) <= interval[0] <= interval[1] <= max(values)
        # An interval and a p-value cannot contradict each other.
        if interval[0] > 1e-9 or interval[1] < -1e-9:
            assert p <= 1 - level + 1e-9
        else:
            assert p > 1 - level - 1e-9


@for_each(
    ("count", "level", "exists"),
    [(5, 0.95, False), (6, 0.95, True), (8, 1 - 0.05 / 12, False), (9, 1 - 0.05 / 12, True)],
)
def test_too_few_values_have_no_interval(count: int, level: float, exists: bool) -> None:
    values = [1.0 + place / 10 for place in range(count)]
    assert (subset_means(values, 1, level=level).interval(level) is not None) == exists


def test_random_subsets_agree_with_the_exact_test_where_both_can_be_done() -> None:
    rng = random.Random(2)
    tenths = [rng.randint(-12, 25) for _ in range(EXACT + 2)]
    exact = float(p_by_patterns(tenths))
    p = subset_means([value / 10 for value in tenths], 3).p_value()
    assert abs(p - exact) < 4 * (2 * exact / 10_000) ** 0.5
    assert p != exact, "otherwise this compared the exact test with itself"


def test_p_is_never_zero_however_clear_the_case() -> None:
    assert subset_means([1.0] * 400, 1).p_value() == 2 / 10_000
    assert subset_means([1.0, 2.0, 0.5], 1).p_value() == 0.25


@for_each("value", [inf, nan])
def test_a_value_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(InvalidInput, match="finite"):
        subset_means([1.0, value], 1)
