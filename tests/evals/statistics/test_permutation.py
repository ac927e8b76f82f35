"""The sign-flip test: against all patterns written out, its laws, its smallest p."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InvalidInput
from skillyard.evals.statistics.permutation import EXACT, FLIPS, sign_flip, smallest_p
from tests.property.strategies import many

TENTHS = st.integers(-40, 40).map(lambda tenths: tenths / 10)


def written_out(tenths: list[int]) -> Fraction:
    """Return the exact p of whole numbers, by every pattern over every value, zeros included."""
    sums = [
        sum(sign * value for sign, value in zip(signs, tenths, strict=True))
        for signs in product((1, -1), repeat=len(tenths))
    ]
    return Fraction(sum(abs(total) >= abs(sum(tenths)) for total in sums), len(sums))


@many
@given(st.lists(st.integers(-40, 40), min_size=1, max_size=9))
def test_it_is_exact_for_few_differences(tenths: list[int]) -> None:
    # 0.1 + 0.2 is not 0.3 in floating point: equal sums must still count as equal.
    found = sign_flip([value / 10 for value in tenths], 1)
    assert found == pytest.approx(float(written_out(tenths)), abs=1e-12)


def test_a_sweep_of_three_runs_shows_nothing() -> None:
    assert sign_flip([1.0, 2.0, 0.5], 1) == 0.25
    assert [smallest_p(count) for count in (0, 1, 3, 5, 6)] == [1, 1, 0.25, 0.0625, 0.03125]


@given(st.lists(TENTHS, max_size=24), st.randoms(use_true_random=False))
def test_laws(differences: list[float], rng: random.Random) -> None:
    pytest.importorskip("numpy")
    p = sign_flip(differences, 5)
    assert smallest_p(sum(value != 0 for value in differences)) <= p <= 1
    assert sign_flip([-value for value in differences], 5) == p
    assert sign_flip([*differences, 0.0], 5) == p
    shuffled = list(differences)
    rng.shuffle(shuffled)
    assert sign_flip(shuffled, 5) == p


def test_random_patterns_agree_with_the_exact_test_where_both_can_be_done() -> None:
    pytest.importorskip("numpy")
    rng = random.Random(2)
    tenths = [rng.randint(-12, 25) for _ in range(EXACT + 2)]
    exact = float(written_out(tenths))
    found = sign_flip([value / 10 for value in tenths], 3)
    assert abs(found - exact) < 4 * (exact * (1 - exact) / FLIPS) ** 0.5 + 1 / FLIPS
    assert found != exact, "otherwise this compared the exact test with itself"


def test_p_is_never_zero_however_clear_the_case() -> None:
    pytest.importorskip("numpy")
    assert sign_flip([1.0] * 400, 1) == 1 / (FLIPS + 1) == smallest_p(400)


def test_nothing_but_ties_gives_one() -> None:
    assert sign_flip([], 1) == sign_flip([0.0] * 20, 1) == 1.0


def test_a_value_that_is_not_finite_is_refused() -> None:
    with pytest.raises(InvalidInput, match="finite"):
        sign_flip([1.0, inf], 1)
