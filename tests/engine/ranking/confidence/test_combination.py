"""Two signals, one confidence: the documented formula and the optional guard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.ranking.confidence.combination import (
    Weights,
    boost,
    combine_signals,
    raw_confidence,
)
from tests.requirements import requirement

SIGNAL = st.floats(0, 1)
WEIGHTS = st.builds(Weights, st.floats(0, 2), st.floats(0, 2), st.floats(0, 3), st.booleans())


@requirement("confidence:combination")
def test_the_documented_sum_may_fall_below_a_lone_signal_and_the_guard_stops_that() -> None:
    assert raw_confidence(0.52, 0.1, Weights()) == pytest.approx(0.32)
    guarded = Weights(monotone_guard=True)
    assert raw_confidence(0.52, 0.1, guarded) == pytest.approx(0.468)
    assert raw_confidence(0.6, 0.8, guarded) == pytest.approx(0.76)


@requirement("confidence:activity")
def test_the_boost_comes_after_the_clamp_and_is_clamped_again() -> None:
    assert boost(1.04, False, Weights()) == 1.0
    assert boost(0.9, True, Weights()) == 1.0
    assert boost(0.5, True, Weights()) == pytest.approx(0.6)
    assert boost(1.04, True, Weights(activity_boost=0.5)) == 0.5


@given(SIGNAL, SIGNAL, WEIGHTS)
def test_the_parts_add_up_to_what_the_fast_form_gives(
    pattern: float, keyword: float, weights: Weights
) -> None:
    signals = combine_signals(pattern, keyword, weights)
    assert signals.raw == raw_confidence(pattern, keyword, weights)
    assert signals.raw == signals.pattern + signals.keyword + signals.agreement


@given(SIGNAL, SIGNAL, st.floats(0, 1), WEIGHTS)
def test_under_the_guard_a_second_signal_never_lowers_the_first(
    pattern: float, keyword: float, share: float, weights: Weights
) -> None:
    guarded = weights._replace(monotone_guard=True)
    alone = raw_confidence(pattern, 0.0, guarded)
    assert raw_confidence(pattern, keyword, guarded) >= alone


@given(SIGNAL, SIGNAL, st.booleans(), WEIGHTS)
def test_a_confidence_lies_between_zero_and_one(
    pattern: float, keyword: float, active: bool, weights: Weights
) -> None:
    assert 0.0 <= boost(raw_confidence(pattern, keyword, weights), active, weights) <= 1.0
