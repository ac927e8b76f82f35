"""Partial pooling: laws, and that it lies nearer to the truth than the plain means."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.statistics.intervals import shrunken_means

VALUES = st.lists(st.floats(-4, 4), min_size=1, max_size=8)


@given(st.lists(VALUES, min_size=1, max_size=6))
def test_every_mean_moves_towards_the_others(values: list[list[float]]) -> None:
    means = [sum(each) / len(each) for each in values]
    shrunken = shrunken_means(values)
    low, high = min(means), max(means)
    assert all(low - 1e-9 <= value <= high + 1e-9 for value in shrunken)
    assert max(shrunken) - min(shrunken) <= high - low + 1e-9


def test_means_stay_where_nothing_is_known_of_the_spread() -> None:
    assert shrunken_means([[1.0, 2.0]]) == [1.5]
    assert shrunken_means([[1.0], [3.0]]) == [1.0, 3.0]
    assert shrunken_means([[1.0, 1.0], [3.0, 3.0]]) == [1.0, 3.0]


def test_skills_that_do_not_differ_get_one_mean() -> None:
    assert shrunken_means([[0.0, 2.0], [2.0, 0.0]]) == pytest.approx([1.0, 1.0])


def test_it_lies_nearer_to_the_truth() -> None:
    rng = random.Random(3)
    plain = pooled = 0.0
    for _ in range(300):
        truths = [rng.gauss(0.3, 0.3) for _ in range(12)]
        values = [[rng.gauss(truth, 0.8) for _ in range(6)] for truth in truths]
        for truth, each, shrunken in zip(truths, values, shrunken_means(values), strict=True):
            plain += (sum(each) / len(each) - truth) ** 2
            pooled += (shrunken - truth) ** 2
    assert pooled < 0.75 * plain
