"""Measures by name, intervals and the paired test."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InvalidInput
from skillyard.evals.retrieval.comparison import compare, interval, per_query
from skillyard.evals.retrieval.measures import BenchQuery, RankedAnswer, measures
from skillyard.ranking.query import Query
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


def test_they_are_those_of_bench_score() -> None:
    rng = random.Random(4)
    asked = [
        BenchQuery(f"q{n}", Query("x"), {f"s{rng.randint(0, 20)}": rng.randint(1, 3)}, "")
        for n in range(50)
    ]
    run = {f"q{n}": judged(*(f"s{k}" for k in rng.sample(range(21), 12))) for n in range(50)}
    found = measures(asked, run)
    for name in ("hit@1", "mrr@10", "ndcg@10", "recall@10", "recall@50"):
        values = list(per_query(asked, run, name).values())
        assert sum(values) / len(values) == pytest.approx(found[name])


@for_each("name", ["", "ndcg", "ndcg@0", "ndcg@x", "map@10", "P@99999"])
def test_an_unknown_measure_is_refused_with_examples(name: str) -> None:
    with pytest.raises(InvalidInput, match="nDCG@10"):
        per_query(ASKED, {}, name)


def test_a_run_against_itself_is_the_same() -> None:
    run = {"q1": judged("a")}
    for one in compare(ASKED, run, run):
        assert (one.difference, one.low, one.high, one.p) == (0.0, 0.0, 0.0, 1.0)
        assert not one.regressed


def test_a_clear_loss_is_told_from_chance() -> None:
    asked = [BenchQuery(f"q{n}", Query("x"), {"right": 3}, "") for n in range(60)]
    good = {f"q{n}": judged("right") for n in range(60)}
    bad = {f"q{n}": judged("right" if n % 3 else "wrong") for n in range(60)}
    one = compare(asked, good, bad, ["P@1"])[0]
    assert (one.better, one.worse, one.same) == (0, 20, 40)
    assert one.difference == pytest.approx(-1 / 3)
    assert one.regressed
    assert one.p < 0.001
    other = {f"q{n}": judged("right" if n != 7 else "wrong") for n in range(60)}
    chance = compare(asked, good, other, ["P@1"])[0]
    assert not chance.regressed
    assert chance.p == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_an_interval_holds_the_mean_and_is_the_same_each_time(values: list[float]) -> None:
    low, high = interval(values)
    assert (low, high) == interval(values)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert interval([]) == (0.0, 0.0)
