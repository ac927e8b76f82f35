"""Benjamini-Hochberg: against scipy's, and its laws."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InvalidInput
from skillyard.evals.statistics.multiple import benjamini_hochberg
from tests.tables import for_each

PS = st.lists(st.floats(0, 1), max_size=30)


@given(PS)
def test_it_is_scipys(ps: list[float]) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = list(stats.false_discovery_control(ps)) if ps else []
    assert benjamini_hochberg(ps) == pytest.approx(expected)


@given(PS, st.randoms(use_true_random=False))
def test_laws(ps: list[float], rng: random.Random) -> None:
    adjusted = benjamini_hochberg(ps)
    assert all(p <= found <= 1 for p, found in zip(ps, adjusted, strict=True))
    pairs = sorted(zip(ps, adjusted, strict=True))
    assert [found for _, found in pairs] == sorted(adjusted), "a smaller p stays smaller"
    places = list(range(len(ps)))
    rng.shuffle(places)
    assert benjamini_hochberg([ps[place] for place in places]) == [adjusted[n] for n in places]


def test_one_test_alone_stays_as_it_is() -> None:
    assert benjamini_hochberg([0.04]) == [0.04]


@for_each("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_is_refused(p: float) -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        benjamini_hochberg([0.5, p])
