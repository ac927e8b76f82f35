"""Power: the figures of the specification, inverses of each other, and the words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.statistics.power import (
    BETTER,
    MIN_UNITS,
    NO_DIFFERENCE,
    POWER,
    TOO_LITTLE,
    WORSE,
    power_of,
    smallest_detectable,
    units_needed,
    word_for,
)
from tests.tables import for_each


@for_each(("effect", "units"), [(1.0, 10), (0.5, 34), (0.25, 128)])
def test_the_published_numbers_of_cases_for_a_spread_of_one_point(
    effect: float, units: int
) -> None:
    pytest.importorskip("scipy")
    assert units_needed(effect, 1.0) == units
    assert power_of(effect, 1.0, units - 1) < POWER <= power_of(effect, 1.0, units)


def test_without_an_effect_the_power_is_the_rate_of_false_alarms() -> None:
    pytest.importorskip("scipy")
    assert power_of(0.0, 1.0, 8) == pytest.approx(0.05)


def test_power_is_that_of_simulated_t_tests() -> None:
    stats, np = pytest.importorskip("scipy.stats"), pytest.importorskip("numpy")
    drawn = np.random.RandomState(3).normal(0.7, 1.0, size=(20_000, 12))
    found = (stats.ttest_1samp(drawn, 0, axis=1).pvalue <= 0.05).mean()
    assert power_of(0.7, 1.0, 12) == pytest.approx(found, abs=0.012)


@given(st.integers(2, 400), st.floats(0.01, 5))
def test_the_smallest_detectable_effect_has_just_the_power(units: int, spread: float) -> None:
    pytest.importorskip("scipy")
    effect = smallest_detectable(spread, units)
    assert effect is not None
    assert power_of(effect, spread, units) == pytest.approx(POWER, abs=1e-6)
    if units >= MIN_UNITS:
        assert units_needed(effect * 1.000001, spread) == units


def test_what_cannot_be_said_is_none() -> None:
    assert smallest_detectable(1.0, 1) is None
    assert smallest_detectable(0.0, 10) is None
    assert units_needed(0.0, 1.0) is None
    assert units_needed(1.0, 0.0) is None


def test_an_effect_too_small_to_find_needs_more_than_there_can_be() -> None:
    pytest.importorskip("scipy")
    assert units_needed(1e-6, 1.0) is None
    assert units_needed(100.0, 1.0) == MIN_UNITS


@for_each(
    ("mean", "p", "units", "word"),
    [
        (0.5, 0.05, 6, BETTER),
        (-0.5, 0.05, 6, WORSE),
        (0.5, 0.0501, 6, NO_DIFFERENCE),
        (0.0, 0.01, 6, NO_DIFFERENCE),
        (3.0, 0.01, 5, TOO_LITTLE),
        (3.0, None, 50, TOO_LITTLE),
        (None, 0.01, 50, TOO_LITTLE),
    ],
)
def test_words(mean: float | None, p: float | None, units: int, word: str) -> None:
    assert word_for(mean, p, units) == word
