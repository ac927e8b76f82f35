"""The counts of a log claim what it says and no more, whatever stands in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.hosts.decisions.request_clusters import cluster_requests
from skillyard.hosts.decisions.usage import count_usage
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


def test_a_skill_fires_when_selected_and_nearly_fires_when_it_is_the_best_of_none() -> None:
    count = count_usage(
        [
            decision([("a", 0.9)], [("b", 0.59)]),
            decision([], [("b", 0.48), ("c", 0.45)]),
            decision([], [("b", 0.57)]),
            decision([], [("c", 0.2)]),
        ]
    )
    assert (count.decisions, count.fired) == (4, 1)
    assert count.skills["a"].fired == 1
    b = count.skills["b"]
    assert (b.fired, b.near) == (0, 2)
    assert b.margin == pytest.approx(0.05)
    assert "c" not in count.skills  # second best once, and far from the floor once


def test_pairs_count_where_both_are_strong_and_close() -> None:
    count = count_usage(
        [
            decision([("b", 0.80), ("a", 0.79)], []),
            decision([("a", 0.81)], [("b", 0.80)]),
            decision([("a", 0.90)], [("b", 0.70)]),
            decision([], [("a", 0.02), ("b", 0.02)]),  # both weak: no conflict
            decision([("a", 0.1)], [("b", 0.1)], fallback=True),
        ]
    )
    assert list(count.pairs) == [("a", "b")]
    pair = count.pairs["a", "b"]
    assert (pair.close, pair.together, pair.first_ahead) == (2, 3, 1)


def test_the_hook_and_entries_before_the_period_are_told_apart() -> None:
    event = {"schema": "skillyard.hook-event/1", "time": DAY, "event": "no_index"}
    old = decision([("a", 0.9)], [], time="2020-01-01T00:00:00Z")
    count = count_usage([event, event, old], since=1_700_000_000.0)
    assert (count.decisions, dict(count.events), count.unreadable) == (0, {"no_index": 2}, 0)


BAD: list[tuple[str, Any]] = [
    ("time", "yesterday"),
    ("time", "2026-11-20T09:30:00"),
    ("time", "9999-12-31T23:59:59-14:00"),
    ("time", "0001-01-01T00:00:00+14:00"),
    ("time", 3),
    ("selected", None),
    ("selected", [3]),
    ("selected", [{"slug": "a", "name": "a", "score": True}]),
    ("selected", [{"slug": "a", "name": "a", "score": float("nan")}]),
    ("selected", [{"slug": "a", "name": "a", "score": 10**400}]),
    ("selected", [{"slug": "", "name": "a", "score": 1}]),
    ("runners_up", {"a": 1}),
    ("policy", []),
    ("policy", {"min_score": None}),
    ("query", "x"),
]


@for_each("field", BAD)
def test_an_entry_with_a_wrong_field_is_counted_as_unreadable(field: tuple[str, Any]) -> None:
    name, value = field
    count = count_usage([None, {**decision([("a", 0.9)], []), name: value}])
    assert (count.decisions, count.unreadable, count.skills) == (0, 2, {})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from(["schema", "time", "query", "policy", "selected", "runners_up"])


@given(st.lists(st.dictionaries(FIELDS, json_values), max_size=4))
def test_any_entry_is_counted_or_unreadable(changes: list[dict[str, Any]]) -> None:
    entries = [{**decision([("a", 0.9)], [], "x"), **change} for change in changes]
    count = count_usage(entries)
    assert count.decisions + count.unreadable + sum(count.events.values()) == len(entries)
    assert all(each.fired <= count.decisions for each in count.skills.values())


@for_each(
    "score, because, lacks",
    [
        (FLOOR, "it lacks Bash", True),
        (FLOOR, "below the floor of 0.6", False),  # rounded up by the log
        (FLOOR - 0.1, "it lacks Bash", False),
        (0.9, 7, False),
    ],
)
def test_only_a_skill_over_the_floor_lacks_something(
    score: float, because: object, lacks: bool
) -> None:
    best = match("a", score) | {"rejected_because": because}
    count = count_usage([decision([], [], "do it", runners_up=[best])])
    assert count.lacks == ({("a", because): 1} if lacks else {})
    assert bool(count.requests) != lacks


def test_decisions_are_counted_by_caller_where_one_is_named() -> None:
    best = [("a", 0.9)]
    entries = [
        *(decision(best, [], caller="acme"), decision([], best, caller="acme")),
        *(decision(best, [], caller="x" * 1_000), decision(best, [])),
        *(decision(best, [], caller=odd) for odd in ("", None, 7, ["acme"])),
    ]
    count = count_usage(entries)
    assert count.callers == {"acme": [1, 1], "x" * 300: [1, 0]}
    assert (count.decisions, count.unreadable) == (len(entries), 0)


WANTS = {
    "book a flight to Rome": 3,
    "cheap flights to Berlin": 1,
    "book me a flight to Oslo please": 1,
    "design a logo for my bakery": 2,
    "thanks": 4,
    "ok great": 1,
}


def test_similar_requests_form_one_group_and_small_talk_forms_none() -> None:
    clusters, small_talk = cluster_requests(WANTS)
    assert small_talk == 5
    assert [(each.total, len(each.requests)) for each in clusters] == [(5, 3), (2, 1)]
    assert clusters[0].requests[0] == "book a flight to Rome"
    assert "flight" in clusters[0].terms


def test_entries_are_read_line_by_line_from_files_only(tmp_path: Path) -> None:
    from skillyard.hosts.decisions.files import MAX_LINE_BYTES, iter_entries

    log = tmp_path / "log"
    long = json.dumps({"schema": "skillyard.decision/1", "x": "y" * 2 * MAX_LINE_BYTES})
    short = json.dumps(decision([("a", 0.9)], []))
    log.write_text(f"{long}\n{short}\n", encoding="utf-8")
    assert [each is None for each in iter_entries(str(log))] == [True, False]
