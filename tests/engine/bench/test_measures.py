"""Measures by name, intervals and the paired test."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import Query
from skillyard.engine.bench.measures import compare, holm, interval, per_query, queries_needed
from skillyard.engine.bench.runs import BenchQuery, RankedAnswer
from skillyard.errors import InvalidInput
from tests.tables import for_each

GRADES = {"a": 3, "b": 2, "c": 1}
ASKED = [BenchQuery("q1", Query("x"), GRADES, "k"), BenchQuery("q2", Query("y"), {}, "none")]


def judged(*ids: str, sure: float = 0.9) -> RankedAnswer:
    return RankedAnswer(ids, sure)


@for_each(
    ("name", "ids", "value"),
    [
        ("P@1", ("a",), 1.0),
        ("precision@2", ("a", "c"), 0.5),
        ("R@10", ("a", "x"), 0.5),
        ("recall@1", ("b", "a"), 1.0),
        ("MRR@10", ("x", "c", "b"), 1 / 3),
        ("mrr@2", ("x", "c", "b"), 0.0),
        ("hit@3", ("x", "c", "b"), 1.0),
        ("success@1", ("c",), 0.0),
        ("nDCG@10", ("a", "b", "c"), 1.0),
        ("ndcg@1", ("b",), 3 / 7),
        ("nDCG@10", (), 0.0),
    ],
)
def test_measures_by_name(name: str, ids: tuple[str, ...], value: float) -> None:
    assert per_query(ASKED, {"q1": judged(*ids)}, name) == {"q1": pytest.approx(value)}


@for_each("name", ["", "ndcg", "ndcg@0", "ndcg@x", "map@10", "P@99999"])
def test_an_unknown_measure_is_refused_with_examples(name: str) -> None:
    with pytest.raises(InvalidInput, match="nDCG@10"):
        per_query(ASKED, {}, name)


def test_a_run_against_itself_is_the_same() -> None:
    run = {"q1": judged("a")}
    for one in compare(ASKED, run, run):
        assert (one.difference, one.low, one.high, one.p) == (0.0, 0.0, 0.0, 1.0)
        assert one.verdict != "worse"


def test_a_clear_loss_is_told_from_chance() -> None:
    requests = [BenchQuery(f"q{n}", Query("x"), {"right": 3}, "") for n in range(60)]
    good = {f"q{n}": judged("right") for n in range(60)}
    bad = {f"q{n}": judged("right" if n % 3 else "wrong") for n in range(60)}
    one = compare(requests, good, bad, ["P@1"])[0]
    assert (one.better, one.worse, one.same) == (0, 20, 40)
    assert one.difference == pytest.approx(-1 / 3)
    assert one.verdict == "worse"
    assert one.p < 0.001
    other = {f"q{n}": judged("right" if n != 7 else "wrong") for n in range(60)}
    chance = compare(requests, good, other, ["P@1"])[0]
    assert chance.verdict != "worse"
    assert chance.p == 1.0


def test_one_lost_query_is_no_regression() -> None:
    """The interval of one difference lies below zero, and says nothing."""
    (one,) = compare(ASKED, {"q1": judged("a")}, {"q1": judged("x")}, ["P@1"])
    assert (one.difference, one.p, one.p_adjusted) == (-1.0, 1.0, 1.0)
    assert one.verdict == "cannot tell"


def two_runs(losses: int, gains: int, same: int) -> tuple[list[BenchQuery], Any, Any]:
    count = losses + gains + same
    requests = [BenchQuery(f"q{n}", Query("x"), {"right": 3}, "") for n in range(count)]
    before = {
        f"q{n}": judged("right" if n < losses or n >= losses + gains else "x") for n in range(count)
    }
    after = {f"q{n}": judged("right" if n >= losses else "x") for n in range(count)}
    return requests, before, after


@for_each(
    ("losses", "gains", "same", "p"),
    [(5, 0, 3, 2 / 32), (6, 0, 0, 2 / 64), (7, 1, 9, 18 / 256), (1, 1, 1, 1.0), (0, 0, 9, 1.0)],
)  # fmt: skip
def test_few_differences_are_tested_exactly(losses: int, gains: int, same: int, p: float) -> None:
    """The binomial sign test by hand: all differences have one size."""
    (one,) = compare(*two_runs(losses, gains, same), ["P@1"])
    assert one.p == pytest.approx(p)


@for_each(
    ("losses", "gains", "same", "margin", "verdict"),
    [
        (5, 0, 0, 0.02, "cannot tell"), (6, 0, 0, 0.02, "worse"), (0, 6, 0, 0.02, "better"),
        (6, 0, 400, 0.02, "worse"), (1, 1, 400, 0.02, "no difference shown"),
        (1, 1, 400, 0.001, "cannot tell"), (3, 3, 20, 0.02, "cannot tell"),
        (0, 0, 5, 0.02, "cannot tell"), (0, 0, 6, 0.02, "no difference shown"),
    ],
)  # fmt: skip
def test_the_verdict_of_one_measure(
    losses: int, gains: int, same: int, margin: float, verdict: str
) -> None:
    (one,) = compare(*two_runs(losses, gains, same), ["P@1"], margin=margin)
    assert one.verdict == verdict


@for_each(
    ("ps", "adjusted"),
    [
        ((), ()),
        ((0.04,), (0.04,)),
        ((0.01, 0.04, 0.03), (0.03, 0.06, 0.06)),
        ((0.5, 0.5), (1.0, 1.0)),
        ((0.02, 0.001), (0.02, 0.002)),
    ],
)
def test_holm_by_hand(ps: tuple[float, ...], adjusted: tuple[float, ...]) -> None:
    """Each p times the number of hypotheses that are left, and never below an earlier one."""
    assert holm(ps) == pytest.approx(list(adjusted))


@for_each(("measures", "least"), [(1, 6), (2, 7), (4, 8), (8, 9)])
def test_the_queries_without_which_nothing_can_be_shown(measures: int, least: int) -> None:
    assert queries_needed(measures) == least


def test_equal_runs_are_seldom_called_different() -> None:
    """A/A: both runs find the right skill for a random half of the queries."""
    alarms = 0
    for seed in range(200):
        rng = random.Random(seed)
        requests = [BenchQuery(f"q{n}", Query("x"), {"right": 3}, "") for n in range(14)]
        runs = [
            {f"q{n}": judged(*rng.sample(["right", "x", "y"], 3)) for n in range(14)}
            for _ in range(2)
        ]
        verdicts = {one.verdict for one in compare(requests, runs[0], runs[1], ["P@1", "mrr@10"])}
        alarms += bool(verdicts & {"better", "worse"})
    assert alarms <= 10


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_an_interval_holds_the_mean_and_is_the_same_each_time(values: list[float]) -> None:
    low, high = interval(values)
    assert (low, high) == interval(values)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert interval([]) == (0.0, 0.0)
