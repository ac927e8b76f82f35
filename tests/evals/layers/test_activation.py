"""L3 by hand: what one choice is worth, and what many are together (evals.md §1.14)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from skillyard import Catalog
from skillyard.evals.cases.skill_cases import ActivationCase
from skillyard.evals.layers.activation import ActivationRunner, activation_summary, confusion_of
from skillyard.evals.layers.session import ModelSession
from skillyard.evals.layers.work import LayerWork
from skillyard.evals.models.sdk import offline_model
from skillyard.evals.settings import RunSettings
from skillyard.evals.storage import Entries
from tests.tables import for_each


def work_of(cases: Sequence[ActivationCase], runs: int) -> LayerWork:
    return LayerWork(
        RunSettings(eval_type="activation", runs=runs), Catalog.from_skills([]), cases, "", {}
    )


def case(
    name: str = "1",
    expected: Sequence[str] = (),
    acceptable: Sequence[str] = (),
    about: str | None = None,
    category: str = "direct",
) -> ActivationCase:
    return ActivationCase(
        id=name,
        user_prompt=f"prompt {name}",
        expected_skills=tuple(expected),
        acceptable_skills=tuple(acceptable),
        should_activate=bool(expected or acceptable),
        category=category,
        about=about,
    )


Choice = dict[str, Any]
NOTHING: Choice = {"picked": []}
FAILED: Choice = {"errors": [{"kind": "generation_error", "message": "timeout"}]}


def chosen(*names: str) -> Choice:
    return {"picked": [*names]}


class Says(ActivationRunner):
    """A router that says what it was told to."""

    def __init__(self, work: LayerWork, text: Sequence[Choice]) -> None:
        model, entries = offline_model("openai", "nowhere"), Entries("nowhere")
        super().__init__(work, ModelSession(model, entries, work.settings))
        self._said = list(text)

    def choose(self, prompt: str, run: int) -> Choice:
        return self._said.pop(0)


def outcomes(cases: Sequence[ActivationCase], *text: Choice, runs: int = 1) -> list[dict[str, Any]]:
    router = Says(work_of(cases, runs), text)
    return [each for run in range(runs) for case in cases for each in router.results(case, run)]


def outcome(one: ActivationCase, *picked: str) -> dict[str, Any]:
    (told,) = outcomes([one], chosen(*picked))
    return told


@for_each(
    ("one", "picked", "passed", "precision", "recall", "f1", "exact"),
    [
        (case(expected="a"), "a", True, 1, 1, 1, True),
        (case(expected="a"), "", False, 0, 0, 0, False),
        (case(expected="a"), "b", False, 0, 0, 0, False),
        (case(expected="a"), "ab", True, 1 / 2, 1, 2 / 3, False),
        (case(expected="a"), "abcd", True, 1 / 4, 1, 2 / 5, False),
        (case(expected="ab"), "a", True, 1, 1 / 2, 2 / 3, False),
        (case(expected="ab"), "ab", True, 1, 1, 1, True),
        (case(expected="ab"), "ac", True, 1 / 2, 1 / 2, 1 / 2, False),
        (case(expected="a", acceptable="b"), "ab", True, 1, 1, 1, True),
        (case(expected="a", acceptable="b"), "b", True, 1, 1, 1, True),
        (case(expected="a", acceptable="b"), "bc", True, 0, 1, 0, False),
        (case(expected="a", acceptable="b"), "abc", True, 1 / 2, 1, 2 / 3, False),
        (case(expected="ab", acceptable="c"), "c", True, 1, 1 / 2, 2 / 3, False),
        (case(expected="ab", acceptable="c"), "ac", True, 1, 1 / 2, 2 / 3, False),
        (case(acceptable="c"), "c", True, 1, 1, 1, True),
        (case(), "", True, 1, 1, 1, True),
        (case(), "a", False, 0, 0, 0, False),
    ],
)
def test_one_choice(
    one: ActivationCase,
    picked: str,
    passed: bool,
    precision: float,
    recall: float,
    f1: float,
    exact: bool,
) -> None:
    told = outcome(one, *picked)
    assert (told["passed"], told["exact"]) == (passed, exact)
    assert (told["precision"], told["recall"], told["f1"]) == (
        pytest.approx(precision, abs=1e-6),
        pytest.approx(recall, abs=1e-6),
        pytest.approx(f1, abs=1e-6),
    )


@for_each(
    ("one", "picked", "missing"),
    [
        (case(expected="ab"), "a", ["b"]),
        (case(expected="ab"), "abc", []),
        (case(expected="a", acceptable="b"), "b", []),
        (case(expected="ac", acceptable="b"), "b", ["a", "c"]),
        (case(), "a", []),
    ],
)
def test_an_expected_skill_that_was_not_picked_is_named(
    one: ActivationCase, picked: str, missing: list[str]
) -> None:
    assert outcome(one, *picked)["missing"] == missing


def test_a_trigger_set_asks_about_one_skill_alone() -> None:
    about = case(expected="a", about="a")
    assert outcome(about, "a", "b", "c")["precision"] == 1.0
    negative = case("2", about="a")
    assert outcome(negative, "b")["passed"]
    assert not outcome(negative, "b", "a")["passed"]


def test_errors_are_apart_from_every_rate() -> None:
    cases = [case("1", "a"), case("2", "a"), case("3"), case("4")]
    told = outcomes(
        cases,
        chosen("a"),
        FAILED,
        NOTHING,
        FAILED,
    )
    summary = activation_summary(told)
    overall = summary["_overall"]
    assert (overall["n"], overall["errors"]) == (2, 2)
    assert (overall["tpr"], overall["fpr"], overall["accuracy"]) == (1.0, 0.0, 1.0)
    assert (summary["a"]["n"], summary["a"]["errors"]) == (1, 1)
    assert [each["passed"] for each in told] == [True, None, True, None]


def test_a_summary_by_hand() -> None:
    """Six positives, of which four are hit; two negatives, of which one fires."""
    cases = [case(str(number), "a") for number in range(4)] + [case("4", "b"), case("5", "b")]
    cases += [case("6"), case("7")]
    picked = ["a", "a", "b", "", "b", "ab", "", "c"]
    told = outcomes(cases, *(chosen(*each) for each in picked))
    summary = activation_summary(told)
    overall = summary["_overall"]
    assert (overall["positives"], overall["negatives"], overall["n"]) == (6, 2, 8)
    assert overall["tpr"] == pytest.approx(4 / 6, abs=1e-6)
    assert (overall["fpr"], overall["accuracy"]) == (0.5, 5 / 8)
    assert overall["exact_set_rate"] == 4 / 8
    assert overall["precision"] == pytest.approx((1 + 1 + 0 + 0 + 1 + 0.5) / 6, abs=1e-6)
    assert overall["f1"] == pytest.approx((1 + 1 + 0 + 0 + 1 + 2 / 3) / 6, abs=1e-6)
    assert overall["mean"] == pytest.approx((1 + 1 + 0 + 0 + 1 + 2 / 3 + 1 + 0) / 8, abs=1e-6)
    assert summary["a"]["f1"] == pytest.approx((1 + 1 + 0 + 0) / 4, abs=1e-6)
    assert summary["b"]["f1"] == pytest.approx((1 + 2 / 3) / 2, abs=1e-6)
    # Wilson's score interval of 4 of 6 and of 1 of 2, at 95 %.
    assert (overall["tpr_low"], overall["tpr_high"]) == (0.299993, 0.903229)
    assert (overall["fpr_low"], overall["fpr_high"]) == (0.094531, 0.905469)
    a, b = summary["a"], summary["b"]
    assert (a["positives"], a["tpr"], a["negatives"], a["fpr"]) == (4, 0.5, 4, 0.25)
    assert (b["positives"], b["tpr"], b["negatives"], b["fpr"]) == (
        2,
        1.0,
        6,
        pytest.approx(1 / 6, abs=1e-6),
    )
    assert {*summary} == {"_overall", "a", "b"}


def test_runs_of_a_case_count_once_together() -> None:
    cases = [case("1", "a"), case("2", "a")]
    told = outcomes(cases, chosen("a"), NOTHING, NOTHING, NOTHING, runs=2)
    overall = activation_summary(told)["_overall"]
    assert (overall["n"], overall["tpr"], overall["mean"]) == (2, 0.25, 0.25)
    assert overall["stddev"] == pytest.approx(0.353553, abs=1e-6)


def test_nothing_is_a_summary_too() -> None:
    for told in ([], outcomes([case("1", "a")], FAILED)):
        summary = activation_summary(told)["_overall"]
        assert (summary["n"], summary["mean"], summary["tpr"], summary["tpr_low"]) == (
            *(0, None, None, None),
        )


def test_what_is_picked_in_place_of_others_is_a_table() -> None:
    cases = [case(str(number), "a") for number in range(4)] + [case("4", "b", "c"), case("5")]
    picked = ["b", "b", "a", "", "c", "b"]
    told = outcomes(cases, *(chosen(*each) for each in picked))
    row = {"skill": "a", "picked": "b", "requests": 2, "of": 4, "confused": True}
    assert confusion_of(told) == [row], "what is acceptable, or no skill at all, confuses nothing"


def test_a_case_half_of_whose_runs_pass_is_half_in_the_interval_too() -> None:
    right, wrong = chosen("a"), NOTHING
    told = outcomes([case(str(n), "a") for n in range(3)], *[right] * 3, *[wrong] * 3, runs=2)
    overall = activation_summary(told)["_overall"]
    assert overall["tpr"] == 0.5
    assert overall["tpr_low"] + overall["tpr_high"] == pytest.approx(1.0, abs=1e-4)
