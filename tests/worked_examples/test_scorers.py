"""What the four documented scorers share: one protocol, and a score that explains itself."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import pytest

import skillyard as sy
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import catalog, skill

SCORERS = ["overlap", "triggers", "confidence", "relevance"]
REQUEST = "please review this code and find bugs in the test suite"
SKILLS = catalog(
    skill(
        "code-review",
        "Find bugs, risks and test gaps in code changes.",
        "Focus on correctness. Then security, then tests.",
        tags=["review", "quality"],
        keywords=["bug", "review"],
        triggers=sy.Triggers(files=("*.test.ts",), phrases=("review this", "find bugs")),
        priority=80,
        install_count=1200,
        curated=True,
    ),
    skill("testing-patterns", "Patterns for a test suite.", "Arrange, act, assert.", tags=["test"]),
    skill("code", "Write code.", None, install_count=7),
    skill("cooking", "Bake bread.", "Knead and wait.", tags=["food"]),
)
CONTEXT: dict[str, Any] = {
    "files": ("src/app.test.ts", "README.md"),
    "recent_activity": ("review",),
    "include_references": True,
}


def matches(scorer: str) -> list[sy.Match]:
    found = sy.rank(SKILLS, REQUEST, scorer=scorer, limit=None, **CONTEXT)
    assert found
    return found


@requirement("match:fields")
@for_each("scorer", SCORERS)
def test_a_match_carries_everything_that_a_caller_may_show(scorer: str) -> None:
    for match in matches(scorer):
        assert match.skill in SKILLS.skills
        assert isinstance(match.score, float | int)
        assert isinstance(match.level, str | None)
        assert isinstance(match.reason, str)
        assert all(isinstance(value, float | int) for value in match.signals.values())
    assert matches(scorer)[0].reason
    assert matches(scorer)[0].signals


COMBINED: dict[str, Callable[[list[float]], float]] = {"sum": sum, "product": prod, "max": max}


def wrong_nodes(node: Any) -> list[str]:
    """Return the labels of nodes whose value does not follow from their parts."""
    found = [label for part in node.parts for label in wrong_nodes(part)]
    if node.parts and node.op in COMBINED:
        value = COMBINED[node.op]([part.value for part in node.parts])
        if value != pytest.approx(node.value, abs=1e-9):
            found.append(f"{node.label}: {node.op} of parts is {value}, not {node.value}")
    return found


@requirement("explain:parts-add-up")
@for_each("scorer", SCORERS)
def test_the_parts_of_every_explanation_make_its_value(scorer: str) -> None:
    for match in matches(scorer):
        assert match.explanation.label
        assert wrong_nodes(match.explanation) == []
    assert matches(scorer)[0].explanation.parts


@requirement("explain:ranking-complete")
@for_each("scorer", SCORERS)
def test_a_ranking_is_in_order_and_cut_by_limit_only(scorer: str) -> None:
    whole = matches(scorer)
    assert [m.score for m in whole if m.skill.body is not None] == sorted(
        (m.score for m in whole if m.skill.body is not None), reverse=True
    )
    first = sy.rank(SKILLS, REQUEST, scorer=scorer, limit=1, **CONTEXT)
    assert [(m.skill.name, m.score) for m in first] == [(whole[0].skill.name, whole[0].score)]
    assert sy.rank(SKILLS, REQUEST, scorer=scorer, limit=0, **CONTEXT) == []


@requirement("explain:ranking-complete")
def test_a_ranking_has_no_floor() -> None:
    weak = catalog(skill("acct", "Bills.", "send the invoice today"))
    (match,) = sy.rank(weak, "invoice", scorer="overlap")
    assert match.score == pytest.approx(0.5)
    assert sy.select(weak, "invoice", scorer="overlap").abstained
