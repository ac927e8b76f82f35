"""Bytes, estimated tokens and tiers: at their bounds."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import InvalidInput
from skillyard.evals.conditions.arms import Size, estimate_tokens, size_of, tier
from tests.property.strategies import hostile_text, many
from tests.tables import for_each


@for_each(
    ("chars", "per_token", "tokens"),
    [(0, 4.0, 0), (1, 4.0, 1), (4, 4.0, 1), (5, 4.0, 2), (36, 3.6, 10), (37, 3.6, 11)],
)
def test_tokens_are_rounded_up_and_nothing_has_none(
    chars: int, per_token: float, tokens: int
) -> None:
    assert estimate_tokens("x" * chars, per_token) == tokens


@for_each("per_token", [0, -1.0, inf, nan])
def test_a_token_of_no_characters_is_refused(per_token: float) -> None:
    with pytest.raises(InvalidInput, match="chars_per_token"):
        estimate_tokens("x", per_token)


@for_each(
    ("size", "word"),
    [(0, "small"), (4_999, "small"), (5_000, "medium"), (15_000, "medium"), (15_001, "large")],
)
def test_both_bounds_belong_to_the_medium_tier(size: int, word: str) -> None:
    assert tier(size) == word


def test_a_size_says_how_its_tokens_were_estimated() -> None:
    assert size_of("né", 3.6) == Size(3, 1, "chars/3.6")
    assert size_of("") == Size(0, 0, "chars/4")


@many
@given(hostile_text, hostile_text, st.floats(0.5, 10))
def test_a_longer_text_is_never_smaller(text: str, more: str, per_token: float) -> None:
    shorter, longer = size_of(text, per_token), size_of(text + more, per_token)
    assert shorter.bytes <= longer.bytes
    assert shorter.tokens_estimated <= longer.tokens_estimated
