"""The cards of a listing: their own members, then what else the frontmatter declares."""

from __future__ import annotations

from typing import Any

import skillyard as sy
from skillyard.engine.operations.skill_details import list_skills

PLAIN = (
    *("name", "id", "slug", "title", "description", "path", "places", "scope", "layout", "tags"),
    *("keywords", "triggers", "version", "license", "compatibility", "allowed_tools", "hidden"),
    *("priority", "tokens", "hash", "last_modified", "shadowed_by", "remarks"),
)


def card(**fields: Any) -> dict[str, Any]:
    catalog = sy.Catalog([sy.Skill("greet", "Greets people.", "Say hello.", **fields)])
    (listed,) = list_skills(catalog).cards
    return listed.document()


def test_a_card_has_its_members_in_order_and_no_field_that_the_skill_does_not_set() -> None:
    assert tuple(card(origin="agentskills")) == PLAIN


def test_fields_beyond_the_members_follow_where_the_skill_sets_them() -> None:
    document = card(
        hint="NAME", safety_notes=["Say it once."], user_invocable=False, declared_references=["a"]
    )
    assert list(document)[len(PLAIN) :] == [
        *("hint", "safety_notes", "declared_references", "user_invocable")
    ]
    assert document["safety_notes"] == ["Say it once."]
    assert document["user_invocable"] is False
