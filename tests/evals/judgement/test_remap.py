"""Scores of conditions: ties that are ties, and laws about slots and orders."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.judgement.verdicts import Criterion, breakdown, merge, one_order, remap
from tests.evals.judgement.making import RUBRIC, answer, mappings, scored
from tests.property.strategies import many
from tests.tables import for_each

CONDITIONS = ["full", "baseline"]
DIRECT = {"A": "full", "B": "baseline"}
SWAPPED = {"A": "baseline", "B": "full"}
PUBLISHED_WEIGHTS = (30, 25, 25, 20)  # hundredths; spec/evals.md §0.5

points = st.integers(1, 5)
winners = st.sampled_from(["A", "B", "tie"])


@st.composite
def judged(draw: st.DrawFn) -> tuple[tuple[Criterion, ...], dict[str, Any]]:
    """A rubric of any weights, and a valid verdict on it."""
    weights = draw(st.lists(st.integers(1, 10_000), min_size=1, max_size=5))
    criteria = tuple(Criterion(f"c{n}", weight / 10_000, "") for n, weight in enumerate(weights))
    scores = [scored(one.name, draw(points), draw(points)) for one in criteria]
    return criteria, {"criteria": scores, "overall_winner": draw(winners)}


@many
@given(judged())
def test_the_same_reply_on_swapped_slots_says_the_opposite(
    case: tuple[tuple[Criterion, ...], dict[str, Any]],
) -> None:
    criteria, outcome = case
    direct = one_order(outcome, criteria, DIRECT, CONDITIONS)
    swapped = one_order(outcome, criteria, SWAPPED, CONDITIONS)
    assert swapped["improvement"] == -direct["improvement"]
    assert {direct["winner"], swapped["winner"]} in ({"full", "baseline"}, {"tie"})
    merged = merge(direct, swapped)
    assert (merged["winner"], merged["improvement"]) == ("tie", 0.0)
    assert merged["position_consistent"] is (direct["winner"] == "tie")


@many
@given(judged())
def test_naming_the_conditions_in_the_other_order_negates_the_improvement(
    case: tuple[tuple[Criterion, ...], dict[str, Any]],
) -> None:
    criteria, outcome = case
    one = one_order(outcome, criteria, DIRECT, CONDITIONS)
    other = one_order(outcome, criteria, DIRECT, CONDITIONS[::-1])
    assert other["improvement"] == -one["improvement"]
    assert (other["scores"], other["winner"]) == (one["scores"], one["winner"])
    assert list(other["scores"]) == CONDITIONS[::-1]


@many
@given(judged())
def test_a_score_is_the_weighted_mean_on_the_scale_and_the_winner_follows(
    case: tuple[tuple[Criterion, ...], dict[str, Any]],
) -> None:
    criteria, outcome = case
    result = one_order(outcome, criteria, DIRECT, CONDITIONS)
    weights = [round(one.weight * 10_000) for one in criteria]
    products = [w * s["score_a"] for w, s in zip(weights, outcome["criteria"], strict=True)]
    assert result["scores"]["full"] == float(round(Fraction(sum(products), sum(weights)), 4))
    assert all(1 <= score <= 5 for score in result["scores"].values())
    full, baseline = result["scores"].values()
    ahead = "full" if full > baseline else "baseline"
    assert result["winner"] == ("tie" if full == baseline else ahead)


def binary(criteria: Iterable[Criterion], scores: Iterable[int]) -> float:
    """Return the weighted sum in binary fractions, added one by one on every Python."""
    total = 0.0
    for criterion, score in zip(criteria, scores, strict=True):
        total += criterion.weight * score
    return total


def test_every_exact_tie_of_the_published_weights_is_a_tie() -> None:
    """spec/evals.md §0.5: of 7,673 ordered pairs, binary fractions made 1,972 unequal."""
    criteria = tuple(Criterion(f"c{n}", w / 100, "") for n, w in enumerate(PUBLISHED_WEIGHTS))
    by_sum: dict[int, list[tuple[int, ...]]] = {}
    for scores in itertools.product(range(1, 6), repeat=4):
        total = sum(w * s for w, s in zip(PUBLISHED_WEIGHTS, scores, strict=True))
        by_sum.setdefault(total, []).append(scores)
    tied = unequal = 0
    for alike in by_sum.values():
        for first, second in itertools.product(alike, repeat=2):
            entries = [
                scored(one.name, a, b) for one, a, b in zip(criteria, first, second, strict=True)
            ]
            reply = {"criteria": entries, "overall_winner": "tie"}
            outcome = one_order(reply, criteria, DIRECT, CONDITIONS)
            tied += 1
            unequal += binary(criteria, first) != binary(criteria, second)
            assert (outcome["winner"], outcome["improvement"]) == ("tie", 0.0)
    assert (tied, unequal) == (7_673, 1_972)


def case(a: int = 4, b: int = 2, **more: Any) -> dict[str, Any]:
    return {
        "conditions": CONDITIONS,
        "criteria": mappings(RUBRIC),
        "assignment": DIRECT,
        "judge": answer(a, b),
    } | more


def orders(*pairs: tuple[dict[str, str], Any]) -> dict[str, Any]:
    return case(orders=[{"assignment": slots, "judge": judge} for slots, judge in pairs])


@for_each(
    "broken",
    [
        {},
        {"conditions": ["full"]},
        {"conditions": ["full", "full"]},
        {"conditions": ["full", "tie"]},
        {"conditions": [1, 2]},
        {"conditions": "ab"},
        {"criteria": []},
        {"criteria": None},
        {"assignment": None},
        {"assignment": {"A": "full"}},
        {"assignment": {"A": "full", "B": "full"}},
        {"assignment": {"A": "full", "B": "other"}},
        {"assignment": {"A": "full", "B": "baseline", "C": "other"}},
        {"tie_band": "wide"},
        {"tie_band": -1},
        {"tie_band": float("nan")},
        {"orders": []},
        {"orders": [1, 2]},
        {"orders": [{"assignment": DIRECT, "judge": answer()}]},
        {"orders": [{"assignment": DIRECT, "judge": answer()}] * 2},
    ],
)
def test_a_case_put_wrongly_is_an_error_and_no_exception(broken: dict[str, Any]) -> None:
    outcome = remap(case(**broken) if broken else {})
    assert outcome["error"] == "bad_case"
    assert outcome["message"]


def test_each_criterion_is_broken_down_by_condition_and_not_by_slot() -> None:
    first = {"criteria": [scored("accuracy", 5, 2, "x"), scored("brevity", 1, 3, "y")]}
    second = {"criteria": [scored("accuracy", 3, 4, "u"), scored("brevity", 3, 2, "v")]}
    assert breakdown([(first, DIRECT), (second, SWAPPED)], RUBRIC) == [
        {
            "name": "accuracy",
            "weight": 0.6,
            "scores": {"full": 4.5, "baseline": 2.5},
            "reasoning": ["x", "u"],
        },
        {
            "name": "brevity",
            "weight": 0.4,
            "scores": {"full": 1.5, "baseline": 3.0},
            "reasoning": ["y", "v"],
        },
    ]
