"""A skill is found by its slug where neither a name nor an id is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from tests.parity.trees import write_tree
from tests.worked_examples.making import document


def test_names_and_ids_go_before_slugs() -> None:
    named = sy.Skill("one", "d", "b", path="1", slug="two")
    slugged = sy.Skill("two", "d", "b", path="2", slug="three")
    catalog = sy.Catalog.from_skills([named, slugged])
    assert catalog.get("two") is slugged
    assert catalog.get("three") is slugged
    assert catalog.get(slugged.id) is slugged


def test_a_slug_of_two_skills_is_ambiguous_and_lists_them_in_catalog_order() -> None:
    skills = [sy.Skill(name, "d", name, path=name, slug="s") for name in ("b", "a", "c")]
    with pytest.raises(sy.AmbiguousName) as caught:
        sy.Catalog.from_skills(skills).get("s")
    assert list(caught.value.paths) == ["a", "b", "c"]


def test_an_unknown_name_leaves_nothing_behind() -> None:
    catalog = sy.Catalog.from_skills([sy.Skill("a", "d", "b", slug="s")])
    for _ in range(2):
        with pytest.raises(sy.SkillNotFound):
            catalog.get("t")
    assert catalog.get("s").name == "a"


def test_a_reload_finds_slugs_of_its_own(tmp_path: Path) -> None:
    write_tree(tmp_path, {"x/SKILL.md": document("x", "d", "b")})
    before = sy.load_catalog(tmp_path)
    assert before.get("x").slug == "x"
    write_tree(tmp_path, {"y/SKILL.md": document("y", "d", "b")})
    after = before.reload().catalog
    assert after.get("y").slug == "y"
    with pytest.raises(sy.SkillNotFound):
        before.get("y")
