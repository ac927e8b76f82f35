"""Two signals, one confidence: the documented formula."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.ranking.confidence.combination import (
    Weights,
    boost,
    combine_signals,
)
from tests.requirements import requirement

SIGNAL = st.floats(0, 1)
WEIGHTS = st.builds(Weights, st.floats(0, 2), st.floats(0, 2), st.floats(0, 3))


@requirement("confidence:combination")
def test_the_documented_sum_may_fall_below_a_lone_signal() -> None:
    assert combine_signals(0.52, 0.1, Weights()).raw == pytest.approx(0.32)


@requirement("confidence:activity")
def test_the_boost_comes_after_the_clamp_and_is_clamped_again() -> None:
    assert boost(1.04, False, Weights()) == 1.0
    assert boost(0.9, True, Weights()) == 1.0
    assert boost(0.5, True, Weights()) == pytest.approx(0.6)
    assert boost(1.04, True, Weights(activity_boost=0.5)) == 0.5


@given(SIGNAL, SIGNAL, st.booleans(), WEIGHTS)
def test_a_confidence_lies_between_zero_and_one(
    pattern: float, keyword: float, active: bool, weights: Weights
) -> None:
    assert 0.0 <= boost(combine_signals(pattern, keyword, weights).raw, active, weights) <= 1.0
