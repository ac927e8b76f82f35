"""After `index build` a prompt hook answers the first prompt, from what its user approved."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.index.indexed_catalog import open_current
from skillyard.engine.index.library_spec import index_folder
from skillyard.engine.ranking.hybrid.scorer import BoundHybrid
from skillyard.engine.ranking.registry import bind, resolve
from skillyard.hosts.hook.library import library_place
from skillyard.hosts.operations.library_index import index_build
from tests.configuration import configure
from tests.engine.embedding.letters import Letters, install
from tests.hosts.hook.conftest import Hook, add_skill, approve_project, payload


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library that fits the prompt, and another skill of it."""
    place = tmp_path / "library"
    add_skill(place, "git-bisect", "Finds the commit that broke the build.")
    add_skill(place, "tables", "Draws tables of numbers.")
    return place


def names(place: LibrarySpec) -> list[str]:
    catalog = open_current(place, index_folder(place), trusted=True)
    return [] if catalog is None else sorted(skill.name for skill in catalog)


def test_the_first_prompt_after_index_build_is_answered(
    library: Path, hook: Hook, tmp_path: Path, home: Path
) -> None:
    add_skill(home / ".claude" / "skills", "letters", "Writes letters.")
    built = index_build([str(library)])
    assert len(built.hook_folders) == 1
    assert not built.hook_problem
    assert hook(payload(tmp_path), "--root", str(library)).skill == "git-bisect"
    assert names(library_place((str(library),), None)) == ["git-bisect", "letters", "tables"]


def test_the_user_s_own_skills_and_an_approved_project_are_prepared_too(
    users_skill: Path, project: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = project / ".claude/skills/git-bisect/SKILL.md"
    approve_project(str(project))
    add_skill(project / ".claude" / "skills", "unread", "Finds the commit that broke the build.")
    monkeypatch.chdir(project)
    index_build(["."])
    assert names(library_place((), os.path.realpath(project))) == ["bisecting", "git-bisect"]
    users_skill.unlink()
    assert str(skill) in hook(payload(project)).context


@pytest.fixture
def letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Letters:
    """The embedder of the default scorer."""
    letters = Letters()
    install(monkeypatch, letters)
    configure(monkeypatch, tmp_path, scorer={"name": "hybrid+letters"})
    return letters


def bound(place: LibrarySpec) -> BoundHybrid:
    catalog = open_current(place, index_folder(place), trusted=True)
    assert catalog is not None
    bound = bind(catalog, resolve("hybrid+letters"))
    assert isinstance(bound, BoundHybrid)
    return bound
