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
from skillyard.hosts.operations.skill_usage import skill_usage

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
