"""A copy of a skill keeps its hash as long as its content is the same."""

from __future__ import annotations

from typing import Any

import pytest

import skillyard as sy
from tests.tables import for_each

SKILL = sy.Skill(
    "pdf-tables",
    "Extract tables.",
    "Use a ruler.",
    hash="f" * 64,
    id="pdf-tables-given",
    metadata={"list": [1]},
)


@for_each(
    "same",
    [
        {"trigger": False, "disable_model_invocation": False},
        {"body": SKILL.body},
        {"name": SKILL.name, "description": SKILL.description},
        {"source": "a/b", "slug": "other", "install_count": 7},
        {"tags": SKILL.tags, "curated": True},
    ],
)
def test_a_field_that_is_given_what_it_holds_changes_no_identity(same: dict[str, Any]) -> None:
    copy = SKILL.replace(**same)
    assert (copy.hash, copy.id) == (SKILL.hash, SKILL.id)
    assert copy is not SKILL


@for_each(
    "change",
    [{"body": "Use a rule."}, {"trigger": True}, {"priority": 1}, {"title": "T"}, {"body": None}],
)
def test_changed_content_does(change: dict[str, Any]) -> None:
    copy = SKILL.replace(**change)
    assert copy.hash != SKILL.hash
    assert copy.id != SKILL.id
    assert copy.hash == sy.Skill("pdf-tables", **{**_content(), **change}).hash


def _content() -> dict[str, Any]:
    return {"description": SKILL.description, "body": SKILL.body}


def test_a_value_of_the_wrong_type_is_refused_though_it_is_equal() -> None:
    with pytest.raises(sy.InvalidInput):
        SKILL.replace(trigger=0)
