"""Of a skill from a store the texts that were published are read, and nothing of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillyard as sy
from skillyard import Skill
from skillyard.engine.resources import (
    list_resources,
    read_declared,
    read_resource,
    real_resource_path,
    skill_folder,
)
from skillyard.errors import ResourceRefused
from skillyard.files import DEFAULT_LIMITS
from skillyard.types import Reference
from tests.tables import for_each


def stored(*references: tuple[str, str | None], path: str = "store://acme/a") -> Skill:
    given_ = [Reference(name, name, content) for name, content in references]
    return Skill(
        "a", "Says.", "Body.", path, references=given_, declared_references=["b.md", "none.md"]
    )


@for_each(
    "path",
    ["../up.md", "/etc/passwd", "./b.md", "a//b.md", "SKILL.md", "skill.MD", "c:\\x", "", "a\nb",
     "%2e%2e/x", "x/..", "file:///etc/passwd"],
)  # fmt: skip
def test_what_could_not_lie_in_a_folder_under_that_path_is_no_file(path: str) -> None:
    skill = stored((path, "theirs"), ("good.md", "good"))
    assert [item.path for item in list_resources(skill)] == ["good.md"]
    with pytest.raises(ResourceRefused):
        read_resource(skill, path)


def test_what_has_no_text_or_too_much_or_is_not_declared_is_refused() -> None:
    limits = DEFAULT_LIMITS._replace(resource_bytes=4, resources_listed=1)
    skill = stored(("none.md", None), ("long.md", "12345"), ("b.md", "1234"), ("c.md", "c"))
    assert [item.path for item in list_resources(skill, limits)] == ["b.md"]
    for path in ("none.md", "long.md", "gone.md"):
        with pytest.raises(ResourceRefused):
            read_resource(skill, path, limits)
    assert read_resource(skill, "c.md", limits) == b"c"
    for path in ("c.md", "none.md"):
        with pytest.raises(ResourceRefused):
            read_declared(skill, path)


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this machine that the path of a stored skill would lead to."""
    folder = tmp_path / "store:" / "acme" / "x"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("secret", encoding="utf-8")
    (folder / "b.md").write_text("secret", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return folder


def test_nothing_on_this_machine_is_found_by_its_path(trap: Path) -> None:
    skill = stored(path="store://acme/x/SKILL.md")
    assert Path(skill.path).read_text(encoding="utf-8") == "secret"
    assert list_resources(skill) == ()
    for read in (read_resource, read_declared, real_resource_path):
        with pytest.raises(ResourceRefused):
            read(skill, "b.md")
    with pytest.raises(ResourceRefused, match="lies in a store"):
        skill_folder(skill)
    assert list(sy.Catalog.from_skills([skill]).reload().changed) == []


@given(st.lists(st.tuples(st.text(max_size=8), st.none() | st.text(max_size=8)), max_size=6))
def test_what_is_listed_can_be_read_and_nothing_else(pairs: list[tuple[str, str | None]]) -> None:
    skill = stored(*pairs)
    listed = {item.path: item.size for item in list_resources(skill)}
    for path, size in listed.items():
        assert len(read_resource(skill, path)) == size
    for path, _ in pairs:
        if path not in listed:
            try:
                data = read_resource(skill, path)
            except ResourceRefused:
                continue
            assert "/".join(p for p in path.split("/") if p not in ("", ".")) in listed, data
