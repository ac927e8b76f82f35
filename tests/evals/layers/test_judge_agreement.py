"""Agreement of judges with each other and with people, on cases that are counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from skillyard.errors import InvalidInput
from skillyard.evals.cases.labels import Label
from skillyard.evals.layers.judge_agreement import agreement_of


def case(number: int, winner: str | None, **others: str) -> dict[str, Any]:
    return {
        "id": f"skill/{number}/0/full/baseline",
        "condition_a": "full",
        "condition_b": "baseline",
        "winner": winner,
        "more_judges": {name: {"winner": said} for name, said in others.items()},
    }


def label(number: int, winner: str) -> Label:
    return Label(f"skill/{number}/0/full/baseline", winner)


def test_one_judge_alone_agrees_with_nobody() -> None:
    found = agreement_of([case(0, "full"), case(1, "tie")])
    assert found == {
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
    found = agreement_of(cases, labels)
    # Observed 2/3; by chance (1*2 + 1*0 + 1*1)/9 = 1/3; (2/3 - 1/3)/(1 - 1/3) = 1/2.
    assert found["kappa"] == 0.5
    assert found["labelled"] == 3


def test_a_label_of_a_winner_that_the_case_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidInput, match="summary"):
        agreement_of([case(0, "full")], [label(0, "summary")])
