"""A skill is found by its slug where neither a name nor an id is meant."""

from __future__ import annotations

import pytest

import skillyard as sy


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
