"""Alpha, kappa and repeat agreement: published examples and laws."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InvalidInput
from skillyard.evals.statistics.agreement import (
    METRICS,
    cohen_kappa,
    krippendorff_alpha,
    repeat_agreement,
)
from tests.tables import for_each

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), example with four observers,
# one row an observer, one digit a unit; a dot is missing.
OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
UNITS = [[None if given == "." else int(given) for given in unit] for unit in zip(*OBSERVERS)]  # noqa: B905


@for_each(("metric", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_example(metric: str, alpha: float) -> None:
    assert krippendorff_alpha(UNITS, metric) == pytest.approx(alpha, abs=5e-4)


@given(
    st.lists(st.lists(st.integers(1, 5), min_size=2, max_size=4), min_size=2, max_size=12),
    st.sampled_from(METRICS),
    st.randoms(use_true_random=False),
)
def test_laws_of_alpha(ratings: list[list[int]], metric: str, rng: random.Random) -> None:
    alpha = krippendorff_alpha(ratings, metric)
    if alpha is None:
        assert len({value for item in ratings for value in item}) == 1
        return
    assert alpha <= 1
    mixed = [rng.sample(item, len(item)) for item in rng.sample(ratings, len(ratings))]
    assert krippendorff_alpha(mixed, metric) == pytest.approx(alpha), "names of judges are nothing"
    assert krippendorff_alpha([*ratings, [3], [None, 2]], metric) == alpha
    same = [[item[0]] * 3 for item in ratings]
    assert krippendorff_alpha(same, metric) in {1.0, None}


def test_judges_that_guess_agree_by_chance() -> None:
    rng = random.Random(7)
    alpha = krippendorff_alpha([[rng.randint(1, 5), rng.randint(1, 5)] for _ in range(3000)])
    assert alpha == pytest.approx(0, abs=0.06)


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(InvalidInput, match="known: nominal, ordinal, interval"):
        krippendorff_alpha([[1, 2]], "ratio")


def test_kappa_of_a_two_by_two_table() -> None:
    # 20 both yes, 5 and 10 apart, 15 both no: 0.7 observed, 0.5 by chance.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    assert cohen_kappa(second, first) == pytest.approx(0.4)
    assert cohen_kappa(first, first) == 1


def test_kappa_without_variety_says_nothing() -> None:
    assert cohen_kappa(["a", "a"], ["a", "a"]) is None
    assert cohen_kappa([], []) is None


def test_kappa_needs_a_label_each() -> None:
    with pytest.raises(InvalidInput, match="2 against 1"):
        cohen_kappa(["a", "b"], ["a"])


def test_repeat_agreement_counts_pairs_within_an_item() -> None:
    found = repeat_agreement({"x": ["A", "A", "B"], "y": ["B", "B"], "z": ["A"]})
    assert (found.agree, found.of, found.rate) == (2, 4, 0.5)
    assert found.low < 0.5 < found.high
    assert repeat_agreement({}).rate is None
