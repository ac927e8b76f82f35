"""A skill as a value: what is derived, copied and refused, and that nothing changes it."""

from __future__ import annotations

from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.skill import document_id
from tests.tables import for_each

FULL: dict[str, Any] = {
    "tags": ["a", "b"],
    "keywords": ("k",),
    "triggers": sy.Triggers(("*.py",), ("kw",), ("do it",)),
    "trigger": True,
    "priority": 3,
    "metadata": {"x": [1, {"y": None}]},
    "references": [sy.types.Reference("r.md", "references/r.md", "text")],
}


def make(**fields: Any) -> sy.Skill:
    return sy.Skill("acct", "Bills.", "Body.", **fields)


class TestDerived:
    def test_id_slug_and_hash_are_derived_when_not_given(self) -> None:
        skill = make()
        assert skill.hash is not None
        assert len(skill.hash) == 64
        assert skill.id == document_id("acct", skill.hash) == f"acct-{skill.hash[:12]}"
        assert skill.slug == "acct"

    @for_each(
        "change",
        [
            {"description": "Other."},
            {"body": None},
            {"tags": ("t",)},
            {"keywords": ("t",)},
            {"triggers": sy.Triggers(phrases=("t",))},
            {"allowed_tools": ("t",)},
            {"priority": 1},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_a_change_of_content_changes_the_derived_id(self, change: dict[str, Any]) -> None:
        same: dict[str, Any] = {"name": "acct", "description": "Bills.", "body": "Body."}
        assert sy.Skill(**same).id == make().id
        assert sy.Skill(**{**same, **change}).id != make().id

    @for_each(
        ("fields", "hidden"),
        [
            ({}, False),
            ({"trigger": True}, True),
            ({"disable_model_invocation": True}, True),
            ({"user_invocable": False}, False),
        ],
    )
    def test_a_skill_is_hidden_when_only_its_name_may_call_it(
        self, fields: dict[str, Any], hidden: bool
    ) -> None:
        assert make(**fields).hidden is hidden


class TestCopied:
    @for_each(
        ("given", "kept"),
        [
            (None, sy.Triggers()),
            (["p"], sy.Triggers(phrases=("p",))),
            ({"files": ["*.py"], "other": ["x"]}, sy.Triggers(files=("*.py",))),
            ({"keywords": None, "phrases": ("p",)}, sy.Triggers(phrases=("p",))),
        ],
    )
    def test_triggers_are_a_value_a_list_of_phrases_or_a_map(
        self, given: Any, kept: sy.Triggers
    ) -> None:
        assert make(triggers=given).triggers == kept

    @for_each(
        ("given", "kept"),
        [
            ("docs/a.md", sy.types.Reference("a.md", "docs/a.md")),
            ({"path": "docs/a.md"}, sy.types.Reference("a.md", "docs/a.md")),
            ({"name": "A", "content": "t"}, sy.types.Reference("A", "A", "t")),
            ({"name": "A", "path": "p", "content": 5}, sy.types.Reference("A", "p")),
        ],
    )
    def test_a_reference_is_a_value_a_path_or_a_map(
        self, given: Any, kept: sy.types.Reference
    ) -> None:
        assert make(references=[given]).references == (kept,)


class TestRefused:
    @for_each(
        ("fields", "named"),
        [
            ({"name": 1}, "name"),
            ({"description": None}, "description"),
            ({"body": b"x"}, "body"),
            ({"tags": "a"}, "tags"),
            ({"keywords": 5}, "keywords"),
            ({"inputs": ["a", 5]}, "inputs"),
            ({"triggers": "a"}, "triggers"),
            ({"triggers": {"files": "*.py"}}, "triggers.files"),
            ({"references": [5]}, "references"),
            ({"references": "docs/a.md"}, "references"),
            ({"metadata": [("a", 1)]}, "metadata"),
            ({"slug": 5}, "slug"),
            ({"version": 1.1}, "version"),
            ({"hash": 5}, "hash"),
            ({"priority": True}, "priority"),
            ({"install_count": 2.5}, "install_count"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_a_field_of_a_wrong_type_is_refused_by_name(
        self, fields: dict[str, Any], named: str
    ) -> None:
        given: dict[str, Any] = {"name": "a", "description": "d", "body": "b", **fields}
        with pytest.raises(sy.errors.InvalidInput, match=named):
            sy.Skill(**given)


class TestValue:
    def test_skills_are_equal_when_all_their_fields_are(self) -> None:
        assert make(**FULL) == make(**FULL)
        assert hash(make(**FULL)) == hash(make(**FULL))
        assert make(title="T") != make()
        assert make() != "acct"

    def test_a_skill_can_be_made_from_another(self) -> None:
        changed = make(**FULL).replace(title="T")
        assert changed.title == "T"
        assert changed.replace(title=None) == make(**FULL)


class TestGivenLoosely:
    def test_a_set_of_tags_has_one_order(self) -> None:
        assert sy.Skill("a", "b", "c", tags={"z", "x", "y"}).tags == ("x", "y", "z")

    def test_changed_content_gets_an_identity_of_its_own(self) -> None:
        skill = sy.Skill("a", "b", "c")
        changed = skill.replace(body="other", name="n")
        assert (changed.slug, changed.id[:2]) == ("n", "n-")
        assert changed.hash != skill.hash
        assert skill.replace(install_count=3).hash == skill.hash

    def test_facts_that_ranking_reads_change_the_digest(self) -> None:
        skill = sy.Skill("a", "b", "c")
        popular = skill.replace(install_count=3)
        assert sy.Catalog.from_skills([skill]).digest != sy.Catalog.from_skills([popular]).digest
