"""The folders of agent hosts: every row of the table, on a tree as that host lays it out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.discovery import hosts
from skillyard.engine.discovery.hosts import (
    HOST_FOLDERS,
    HOST_TITLES,
    HostFolder,
    expand_pattern,
    host_roots,
)
from skillyard.engine.discovery.layout import Root
from skillyard.engine.index.library_spec import index_folder
from tests.parity.trees import write_tree
from tests.tables import for_each
from tests.worked_examples.making import document


def label(row: HostFolder) -> str:
    return "-".join((row.host, row.scope, row.system or "all", row.pattern))


def roots_of(
    base: Path, row: HostFolder, patch: pytest.MonkeyPatch, **environ: str
) -> tuple[Root, ...]:
    """Return the folders of the row's scope, with home, project and system below ``base``."""
    for each in HOST_FOLDERS:
        patch.delenv(each.variable or "NONE", raising=False)
    for name, value in {"HOME": str(base), **environ}.items():
        patch.setenv(name, value)
    if row.scope == "system":
        matches = hosts._matches
        patch.setattr(hosts, "_system", lambda: row.system)
        patch.setattr(hosts, "_matches", lambda path: matches(f"{base}/{path.lstrip('/')}"))
    return host_roots([row.scope], folder=str(base))


@for_each("row", HOST_FOLDERS, ids=label)
def test_a_skill_in_the_folder_of_each_row_is_found(
    tmp_path: Path, row: HostFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots_of(tmp_path, row, monkeypatch)
    pattern = expand_pattern(row.pattern).replace("*", "any")
    folder = pattern if row.scope == "user" else f"{tmp_path}/{pattern.lstrip('/')}"
    write_tree(Path(folder), {"x/SKILL.md": document("x")})
    (root,) = host_roots([row.scope], folder=str(tmp_path))
    assert (Path(root.path), root.scope) == (Path(folder), row.scope)
    assert root.host in HOST_TITLES
    assert [skill.name for skill in sy.load_catalog(root.path)] == ["x"]


@for_each("row", [row for row in HOST_FOLDERS if row.variable], ids=label)
def test_a_variable_moves_the_folder(
    tmp_path: Path, row: HostFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def paths(**environ: str) -> list[str]:
        return [root.path for root in roots_of(tmp_path, row, monkeypatch, **environ)]

    paths()
    usual = expand_pattern(row.pattern)
    others = {other.pattern for other in HOST_FOLDERS if other.scope == row.scope} - {row.pattern}
    is_shared = usual in set(map(expand_pattern, others))
    moved = tmp_path / "moved" / row.pattern.partition("}/")[2]
    for folder in (usual, moved):
        os.makedirs(folder)
    elsewhere = paths(**{row.variable: f"{tmp_path}/moved"})
    assert str(moved) in elsewhere
    assert is_shared or usual not in elsewhere
    assert usual in paths(**{row.variable: " "})


class TestProject:
    def test_folders_up_to_that_of_the_repository_are_read_the_nearest_first(
        self, tmp_path: Path
    ) -> None:
        root = write_tree(
            tmp_path,
            {
                ".agents/skills/outside/SKILL.md": document("outside"),
                "repository/.git": "gitdir: elsewhere\n",
                "repository/.claude/skills/far/SKILL.md": document("far"),
                "repository/packages/a/.agents/skills/near/SKILL.md": document("near"),
                "repository/packages/b/.agents/skills/other/SKILL.md": document("other"),
            },
        )
        folder = root / "repository/packages/a"
        paths = [each.path for each in host_roots(["project"], folder=str(folder))]
        assert paths == [f"{folder}/.agents/skills", f"{root}/repository/.claude/skills"]

    def test_each_sub_agent_of_eve_has_a_folder(self, tmp_path: Path) -> None:
        for name in ("b", "a", "c"):
            (tmp_path / f"agent/subagents/{name}/skills").mkdir(parents=True)
        (tmp_path / "agent/subagents/none").mkdir()
        found = host_roots(["project"], folder=str(tmp_path))
        assert [root.path for root in found] == [
            f"{tmp_path}/agent/subagents/{name}/skills" for name in "abc"
        ]


def test_named_roots_win_over_the_project_and_that_over_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(
        tmp_path,
        {
            "home/.goose/skills/x/SKILL.md": document("x", "no folder of goose"),
            "home/.kiro/skills/x/SKILL.md": document("x", "user"),
            "home/.kiro/skills/u/SKILL.md": document("u", "user"),
            "p/.kiro/skills/x/SKILL.md": document("x", "project"),
            "p/.kiro/skills/p/SKILL.md": document("p", "project"),
            "named/x/SKILL.md": document("x", "named"),
        },
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "p")
    catalog = sy.load_catalog(tmp_path / "named", scopes=("user", "project"))
    assert {skill.name: skill.description for skill in catalog.candidates} == {
        "x": "named",
        "p": "project",
        "u": "user",
    }
    assert {(skill.name, skill.scope) for skill in catalog} == {
        ("x", "project"),
        ("p", "project"),
        ("x", "user"),
        ("u", "user"),
    }


def test_a_plain_root_reads_no_folder_of_a_host_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {".kiro/skills/x/SKILL.md": document("x")})
    (tmp_path / "library").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert list(sy.load_catalog(tmp_path / "library")) == []


def test_each_working_directory_has_an_index_of_its_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folder(name: str, *scopes: str) -> str:
        (tmp_path / name).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / name)
        return index_folder(LibrarySpec((str(tmp_path),), scopes, sy.files.DEFAULT_LIMITS))

    assert folder("a") == folder("b")
    assert len({folder("a"), folder("a", "project"), folder("b", "project")}) == 3
