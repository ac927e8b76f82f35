"""The counts of a log claim what it says and no more, whatever stands in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillyard import Catalog
from skillyard.base.shapes.usage import Usage
from skillyard.hosts.decisions.files import MAX_LINE_BYTES, iter_entries
from skillyard.hosts.operations.skill_usage import skill_usage
from tests.tables import for_each

FLOOR = 0.6
DAY = "2026-11-20T09:30:00.000Z"


def match(slug: str, score: float) -> dict[str, Any]:
    return {"slug": slug, "name": slug.title(), "score": score}


def decision(
    selected: list[tuple[str, float]],
    others: list[tuple[str, float]],
    text: str | None = None,
    **fields: Any,
) -> dict[str, Any]:
    return {
        "schema": "skillyard.decision/1",
        "time": DAY,
        "query": {"digest": "sha256:1"} if text is None else {"digest": "sha256:1", "text": text},
        "policy": {"min_score": FLOOR},
        "selected": [match(*each) for each in selected],
        "runners_up": [match(*each) for each in others],
        "fallback": False,
        **fields,
    }


UsageOf = Callable[..., Usage]


@pytest.fixture
def usage_of(tmp_path: Path) -> UsageOf:
    """Sum up a log of these entries: ``usage_of([decision(…)])``."""

    def call(entries: list[Any]) -> Usage:
        log = tmp_path / "log.jsonl"
        log.write_text("".join(f"{json.dumps(each)}\n" for each in entries), encoding="utf-8")
        return skill_usage(Catalog.from_skills([]), [str(log)])

    return call


def test_a_skill_fires_when_selected_and_nearly_fires_when_it_is_the_best_of_none(
    usage_of: UsageOf,
) -> None:
    usage = usage_of(
        [
            decision([("a", 0.9)], [("b", 0.59)]),
            decision([], [("b", 0.48), ("c", 0.45)]),
            decision([], [("b", 0.57)]),
            decision([], [("c", 0.2)]),
        ]
    )
    assert (usage.decisions, usage.fired) == (4, 1)
    a, b = usage.skills  # c is second best once, and far from the floor once
    assert (a.slug, a.fired) == ("a", 1)
    assert (b.slug, b.fired, b.near) == ("b", 0, 2)
    assert b.margin == pytest.approx(0.05)


def test_pairs_count_where_both_are_strong_and_close(usage_of: UsageOf) -> None:
    usage = usage_of(
        [
            decision([("b", 0.80), ("a", 0.79)], []),
            decision([("a", 0.81)], [("b", 0.80)]),
            decision([("a", 0.90)], [("b", 0.70)]),
            decision([], [("a", 0.02), ("b", 0.02)]),  # both weak: no conflict
            decision([("a", 0.1)], [("b", 0.1)], fallback=True),
        ]
    )
    (pair,) = usage.conflicts
    assert (pair.first, pair.second) == ("a", "b")
    assert (pair.close, pair.together, pair.first_ahead) == (2, 3, 1)


BAD: list[tuple[str, Any]] = [
    ("time", "yesterday"),
    ("time", "9999-12-31T23:59:59-14:00"),
    ("time", "0001-01-01T00:00:00+14:00"),
    ("time", 3),
    ("selected", None),
    ("selected", [3]),
    ("selected", [{"slug": "a", "name": "a", "score": float("nan")}]),
    ("selected", [{"slug": "a", "name": "a", "score": 10**400}]),
    ("selected", [{"slug": "", "name": "a", "score": 1}]),
    ("runners_up", {"a": 1}),
    ("policy", []),
    ("policy", {"min_score": None}),
    ("query", "x"),
]


@for_each("field", BAD)
def test_an_entry_with_a_wrong_field_is_counted_as_unreadable(
    field: tuple[str, Any], usage_of: UsageOf
) -> None:
    name, value = field
    usage = usage_of([None, {**decision([("a", 0.9)], []), name: value}])
    assert (usage.decisions, usage.unreadable, usage.skills) == (0, 2, ())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from(["schema", "time", "query", "policy", "selected", "runners_up"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # each writes its log anew
@given(changes=st.lists(st.dictionaries(FIELDS, json_values), max_size=4))
def test_any_entry_is_counted_or_unreadable(
    usage_of: UsageOf, changes: list[dict[str, Any]]
) -> None:
    entries = [{**decision([("a", 0.9)], [], "x"), **change} for change in changes]
    usage = usage_of(entries)
    assert usage.decisions + usage.unreadable + sum(usage.events.values()) == len(entries)
    assert all(each.fired <= usage.decisions for each in usage.skills)


@for_each(
    "score, because, lacks",
    [
        (FLOOR, "it lacks Bash", True),
        (FLOOR, "below the floor of 0.6", False),  # rounded up by the log
        (FLOOR - 0.1, "it lacks Bash", False),
    ],
)
def test_only_a_skill_over_the_floor_lacks_something(
    score: float, because: str, lacks: bool, usage_of: UsageOf
) -> None:
    best = match("a", score) | {"rejected_because": because}
    usage = usage_of([decision([], [], "bake a cake", runners_up=[best])])
    assert [(each.slug, each.because) for each in usage.lacks] == [("a", because)] * lacks
    assert bool(usage.groups) != lacks


def test_similar_requests_form_one_group_and_small_talk_forms_none(usage_of: UsageOf) -> None:
    counts = {
        "book a flight to Rome": 3,
        "cheap flights to Berlin": 1,
        "book me a flight to Oslo please": 1,
        "design a logo for my bakery": 2,
        "thanks": 4,
        "ok great": 1,
    }
    texts = [text for text, number in counts.items() for _ in range(number)]
    usage = usage_of([decision([], [], text) for text in texts])
    assert usage.small_talk == 5
    assert [(each.count, each.different) for each in usage.groups] == [(5, 3), (2, 1)]
    assert usage.groups[0].requests[0] == "book a flight to Rome"
    assert "flight" in usage.groups[0].terms


def test_entries_are_read_line_by_line_from_files_only(tmp_path: Path) -> None:
    log = tmp_path / "log"
    long = json.dumps({"schema": "skillyard.decision/1", "x": "y" * 2 * MAX_LINE_BYTES})
    short = json.dumps(decision([("a", 0.9)], []))
    log.write_text(f"{long}\n{short}\n", encoding="utf-8")
    assert [each is None for each in iter_entries(str(log))] == [True, False]
