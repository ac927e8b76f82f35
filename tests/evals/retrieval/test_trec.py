"""TREC's formats, there and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import InvalidInput
from skillyard.evals.retrieval.trec import parse_qrels, parse_run, run_text
from tests.tables import for_each

IDS = st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=300), min_size=1, max_size=9)


def test_a_run_in_trecs_format() -> None:
    run: dict[str, Any] = {"q 1": {"results": [["a/b", 0.75], ["c d", 0.5]]}, "q2": {"results": []}}
    assert run_text(run, "hybrid") == ("q%201 Q0 a/b 1 0.75 hybrid\nq%201 Q0 c%20d 2 0.5 hybrid\n")


@given(st.dictionaries(IDS, st.lists(IDS, min_size=1, max_size=6, unique=True), max_size=5))
def test_a_run_comes_back(listed: dict[str, list[str]]) -> None:
    run: dict[str, Any] = {
        query: {"results": [[key, 1.0 / (n + 1)] for n, key in enumerate(keys)]}
        for query, keys in listed.items()
    }
    result = parse_run(run_text(run, "t"), "run")
    assert {query: list(judged.ids) for query, judged in result.items()} == listed


def test_scores_order_a_run_and_ranks_break_ties() -> None:
    text = "q Q0 low 1 0.1 t\nq Q0 b 3 0.9 t\nq Q0 a 2 0.9 t\n\n"
    result = parse_run(text, "run")["q"]
    assert (result.ids, result.confidence) == (("a", "b", "low"), 0.9)


@for_each("line", ["q Q0 a 1 0.5", "q Q0 a one 0.5 t", "q Q0 a 1 x t", "q Q0 a 1 nan t"])
def test_a_wrong_line_of_a_run_is_named(line: str) -> None:
    with pytest.raises(InvalidInput, match="run:2"):
        parse_run(f"q Q0 a 1 0.5 t\n{line}\n", "run")


def test_qrels() -> None:
    assert parse_qrels("q1 0 a 3\nq1 0 b -1\nq2 0 c 1\n", "q") == {
        "q1": {"a": 3, "b": 0},
        "q2": {"c": 1},
    }
    with pytest.raises(InvalidInput, match="q:1"):
        parse_qrels("q1 a 3\n", "q")
