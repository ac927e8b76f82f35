"""Contexts and options: two spellings, None for the default, and refusal by name."""

from __future__ import annotations

from typing import Any

import pytest

from skillyard import Query
from skillyard.engine.ranking.confidence.tool import EvaluationOptions, read_context, read_options
from skillyard.errors import InvalidInput
from tests.requirements import requirement
from tests.tables import for_each


@requirement("confidence:camel-options")
def test_both_spellings_mean_the_same() -> None:
    camel = {"patternWeight": 1, "keywordWeight": 0, "activityBoost": 2, "threshold": 0, "limit": 3}
    snake = {
        "pattern_weight": 1,
        "keyword_weight": 0,
        "activity_boost": 2,
        "threshold": 0,
        "limit": 3,
    }
    assert read_options(camel) == read_options(snake) == EvaluationOptions(0, 1, 0, 3, 2)
    assert read_context({"recentActivity": ["a"]}) == read_context({"recent_activity": ["a"]})


@requirement("confidence:options")
def test_none_and_absence_mean_the_default() -> None:
    fields = dict.fromkeys(EvaluationOptions._fields)
    assert read_options(fields) == read_options(None) == read_options({}) == EvaluationOptions()
    assert EvaluationOptions() == (0.3, 0.5, 0.5, 10, 1.2)
    empty = {"files": None, "text": None, "recentActivity": None}
    assert read_context(empty) == read_context(None) == Query()


@requirement("confidence:options")
@for_each(
    ("options", "named"),
    [
        ({"threshold": "0.1"}, "threshold"),
        ({"threshold": -0.1}, "threshold"),
        ({"threshold": float("nan")}, "threshold"),
        ({"threshold": float("inf")}, "threshold"),
        ({"threshold": True}, "threshold"),
        ({"patternWeight": -1}, "pattern_weight"),
        ({"keywordWeight": []}, "keyword_weight"),
        ({"activityBoost": "x"}, "activity_boost"),
        ({"limit": -1}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"limit": True}, "limit"),
        ({"limitt": 1}, "limitt"),
        ({"activityBoost": 1, "activity_boost": 2}, "activity_boost"),
        (["limit"], "options"),
    ],
)
def test_a_wrong_option_is_refused_by_name(options: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        read_options(options)


@for_each(
    ("context", "named"),
    [
        ({"files": "a.ts"}, "files"),
        ({"files": [1]}, "files"),
        ({"files": 1}, "files"),
        ({"text": 1}, "text"),
        ({"text": ["a"]}, "text"),
        ({"recentActivity": "testing"}, "recent_activity"),
        ({"file": ["a.ts"]}, "file"),
        ("text", "context"),
    ],
)
def test_a_wrong_context_is_refused_by_name(context: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        read_context(context)
