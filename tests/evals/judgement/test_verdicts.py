"""A judge's reply is valid whole or not at all: hostile ones, each with the reason."""

from __future__ import annotations

import json
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InvalidInput
from skillyard.evals.judgement.verdicts import (
    DEFAULT_CRITERIA,
    BadVerdict,
    Criterion,
    extract_json,
    read_criteria,
    verdict,
)
from tests.evals.judgement.making import RUBRIC, answer, mappings, scored
from tests.property.strategies import many
from tests.tables import for_each

GOOD = scored("accuracy", 4, 2), scored("brevity", 3, 3)


def with_score(score: str) -> str:
    """Return a reply whose first score is this piece of JSON."""
    return json.dumps(answer()).replace('"score_a": 4', f'"score_a": {score}', 1)


def with_entries(*entries: object) -> str:
    return json.dumps({"criteria": entries, "overall_winner": "A"})


HOSTILE = {
    "no JSON at all": ("A is better.", None),
    "only a winner in words": ("WINNER: A. [[A]]", None),
    "cut off": (json.dumps(answer())[:-3], None),
    "an array": (json.dumps([answer()]), None),
    "an example before the answer": (
        '{"overall_winner": "A"}\n' + json.dumps(answer()), "bad_shape",
    ),
    "an empty object": ("{}", "bad_shape"),
    "criteria as an object": ('{"criteria": {"accuracy": [4, 2]}, "overall_winner": "A"}',
                              "bad_shape"),
    "entries that are texts": (with_entries("accuracy", "brevity"), "bad_shape"),
    "a name that is a number": (with_entries(scored(1, 4, 2)), "bad_shape"),
    "a criterion left out": (with_entries(GOOD[0]), "missing_criterion"),
    "a criterion twice": (with_entries(*GOOD, GOOD[0]), "duplicate_criterion"),
    "a criterion of its own": (with_entries(*GOOD, scored("charm", 5, 1)), "unknown_criterion"),
    "a name with a blank": (with_entries(scored("accuracy ", 4, 2), GOOD[1]), "unknown_criterion"),
    "a fraction that is whole": (with_score("4.0"), "score_not_integer"),
    "no number": (with_score("NaN"), None),
    "a score beyond the scale": (with_score("9" * 400), "score_out_of_range"),
    "a reasoning that is a list": (
        with_entries(scored("accuracy", 4, 2, ["x"]), GOOD[1]), "bad_reasoning",
    ),
    "a winner off the menu": (json.dumps(answer(winner="Response A")), "bad_winner"),
    "a winner that is a list": (json.dumps(answer(winner=["A"])), "bad_winner"),
}  # fmt: skip


@for_each("name", HOSTILE)
def test_a_hostile_reply_is_no_verdict(name: str) -> None:
    text, kind = HOSTILE[name]
    result = extract_json(text)
    if kind is None:
        assert result is None
        return
    with pytest.raises(BadVerdict) as refused:
        verdict(result, RUBRIC)
    assert refused.value.kind == kind


def test_half_a_character_in_a_reasoning_is_replaced_so_that_files_can_hold_it() -> None:
    text = json.dumps(answer()).replace("Because.", "\\ud83d!", 1)
    assert verdict(extract_json(text), RUBRIC)["criteria"][0]["reasoning"] == "\ufffd!"


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["criteria", "overall_winner", "name", "score_a", "reasoning"]), inner
        )
    ),
)


@many
@given(odd)
def test_no_reply_raises_anything_but_bad_verdict(value: Any) -> None:
    for reply in (value, {"criteria": value, "overall_winner": "A"}):
        with pytest.raises(BadVerdict):
            verdict(reply, RUBRIC)


def test_criteria_come_as_values_or_as_mappings() -> None:
    assert read_criteria(mappings(RUBRIC)) == read_criteria(RUBRIC) == RUBRIC
    assert read_criteria([{"name": "q", "weight": 1}]) == (Criterion("q", 1, ""),)
    assert read_criteria(DEFAULT_CRITERIA) == DEFAULT_CRITERIA


@for_each(
    ("criteria", "what"),
    [
        ([], "at least one"),
        ([{"name": " ", "weight": 1}], "a name of its own"),
        ([{"weight": 1}], "a name of its own"),
        ([{"name": 1, "weight": 1}], "a name of its own"),
        ([{"name": "q", "weight": True}], r"criteria\[1\].weight"),
        ([{"name": "q", "weight": "1"}], r"criteria\[1\].weight"),
        ([{"name": "q", "weight": 0}], r"criteria\[1\].weight"),
        ([{"name": "q", "weight": nan}], r"criteria\[1\].weight"),
        ([{"name": "q", "weight": inf}], r"criteria\[1\].weight"),
        ([{"name": "q"}], r"criteria\[1\].weight"),
        ([{"name": "q", "weight": 1, "description": 3}], "needs texts"),
        ([*mappings(RUBRIC), {"name": "brevity", "weight": 1}], "a name of its own"),
        (["accuracy"], "must be a mapping"),
    ],
)
def test_a_rubric_that_is_none_is_refused_by_name(criteria: Any, what: str) -> None:
    with pytest.raises(InvalidInput, match=what):
        read_criteria(criteria)
