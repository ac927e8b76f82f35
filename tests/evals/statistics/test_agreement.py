"""Agreement of judges with each other and with people: published examples, laws, and by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import InvalidInput
from skillyard.evals.cases.labels import Label
from skillyard.evals.statistics.agreement import agreement_of, cohen_kappa, krippendorff_alpha

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), example with four observers,
# one row an observer, one digit a unit; a dot is missing.
OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
UNITS = [[int(given) for given in unit if given != "."] for unit in zip(*OBSERVERS, strict=True)]


def test_alpha_of_the_published_example() -> None:
    assert krippendorff_alpha(UNITS) == pytest.approx(0.815, abs=5e-4)


@given(
    st.lists(st.lists(st.integers(1, 5), min_size=2, max_size=4), min_size=2, max_size=12),
    st.randoms(use_true_random=False),
)
def test_laws_of_alpha(ratings: list[list[int]], rng: random.Random) -> None:
    alpha = krippendorff_alpha(ratings)
    if alpha is None:
        assert len({value for item in ratings for value in item}) == 1
        return
    assert alpha <= 1
    mixed = [rng.sample(item, len(item)) for item in rng.sample(ratings, len(ratings))]
    assert krippendorff_alpha(mixed) == pytest.approx(alpha), "names of judges are nothing"
    assert krippendorff_alpha([*ratings, [3], [2]]) == alpha
    same = [[item[0]] * 3 for item in ratings]
    assert krippendorff_alpha(same) in {1.0, None}


def test_judges_that_guess_agree_by_chance() -> None:
    rng = random.Random(7)
    alpha = krippendorff_alpha([[rng.randint(1, 5), rng.randint(1, 5)] for _ in range(3000)])
    assert alpha == pytest.approx(0, abs=0.06)


def test_kappa_of_a_two_by_two_table() -> None:
    # 20 both yes, 5 and 10 apart, 15 both no: 0.7 observed, 0.5 by chance.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(list(zip(first, second, strict=True))) == pytest.approx(0.4)
    assert cohen_kappa(list(zip(second, first, strict=True))) == pytest.approx(0.4)
    assert cohen_kappa(list(zip(first, first, strict=True))) == 1


def test_kappa_without_variety_says_nothing() -> None:
    assert cohen_kappa([("a", "a"), ("a", "a")]) is None
    assert cohen_kappa([]) is None


def case(number: int, winner: str | None, **others: str) -> dict[str, Any]:
    return {
        "id": f"skill/{number}/0/full/baseline",
        "condition_a": "full",
        "condition_b": "baseline",
        "winner": winner,
        "more_judges": {name: {"winner": text} for name, text in others.items()},
    }


def label(number: int, winner: str) -> Label:
    return Label(f"skill/{number}/0/full/baseline", winner)


def test_one_judge_alone_agrees_with_nobody() -> None:
    result = agreement_of([case(0, "full"), case(1, "tie")])
    assert result == {
        "alpha": None, "judges": 1, "judged_by_all": 0, "kappa": None, "labelled": 0,
    }  # fmt: skip


def test_judges_that_say_the_same_agree_fully_and_opposite_ones_do_not() -> None:
    same = [case(0, "full", b="full"), case(1, "baseline", b="baseline"), case(2, "tie", b="tie")]
    assert agreement_of(same)["alpha"] == 1.0
    opposite = [case(0, "full", b="baseline"), case(1, "baseline", b="full")]
    assert agreement_of(opposite)["alpha"] < 0


def test_a_further_judge_without_a_verdict_is_left_out() -> None:
    broken = case(0, "full")
    broken["more_judges"] = {"b": {"error": "bad_shape"}}
    assert agreement_of([broken])["judged_by_all"] == 0


def test_kappa_counts_labelled_cases_that_were_judged() -> None:
    cases = [case(0, "full"), case(1, "baseline"), case(2, "tie"), case(3, None)]
    labels = [label(0, "full"), label(1, "full"), label(2, "tie"), label(3, "tie"), label(9, "tie")]
    result = agreement_of(cases, labels)
    # Observed 2/3; by chance (1*2 + 1*0 + 1*1)/9 = 1/3; (2/3 - 1/3)/(1 - 1/3) = 1/2.
    assert result["kappa"] == 0.5
    assert result["labelled"] == 3


def test_a_label_of_a_winner_that_the_case_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidInput, match="summary"):
        agreement_of([case(0, "full")], [label(0, "summary")])
