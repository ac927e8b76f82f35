"""Reload: what is read again, what is kept, what is noticed, and what is said about it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import skillyard as sy
from skillyard.engine import resources
from skillyard.engine.discovery import Scan
from tests.parity.trees import write_tree
from tests.worked_examples.making import document

LATER_NS = 3_600_000_000_000


@pytest.fixture
def an_hour_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the catalog see its files as old enough to be trusted by their stamps."""
    clock = SimpleNamespace(time_ns=lambda: time.time_ns() + LATER_NS)
    monkeypatch.setattr("skillyard.engine.catalog.entries.time", clock)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {f"{name}/SKILL.md": document(name) for name in ("a", "b", "c")}
    return write_tree(tmp_path / "p", files)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that are read from now on."""
    paths: list[str] = []

    def read_file(path: str, max_bytes: int, shown: str = "") -> object:
        paths.append(path)
        return resources.read_file(path, max_bytes, shown)

    monkeypatch.setattr("skillyard.engine.catalog.entries.read_file", read_file)
    return paths


def same_stamps(monkeypatch: pytest.MonkeyPatch, catalog: sy.Catalog) -> None:
    """Let every later scan report the files as they were: an edit within one tick of the clock."""
    candidates = tuple(entry.candidate for entry in catalog._entries.values())
    monkeypatch.setattr("skillyard.engine.discovery.scan", lambda *_: Scan(candidates, (), 1))


class TestRead:
    def test_nothing_changed_is_the_same_object(self, root: Path) -> None:
        before = sy.load_catalog(root)
        diff = before.reload()
        assert diff.catalog is before
        assert not diff
        assert (diff.added, diff.changed, diff.removed) == ((), (), ())

    @pytest.mark.usefixtures("an_hour_later")
    def test_a_settled_file_that_looks_the_same_is_not_read_again(
        self, root: Path, read: list[str]
    ) -> None:
        before = sy.load_catalog(root)
        assert len(read) == 3
        (root / "b/SKILL.md").write_text(document("b", "Changed."), encoding="utf-8")
        diff = before.reload()
        assert read[3:] == [f"{root}/b/SKILL.md"]
        assert diff.changed == (diff.catalog.get("b"),)
        assert diff.catalog.get("a") is before.get("a")

    def test_an_edit_in_the_same_tick_of_the_clock_is_noticed(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = sy.load_catalog(root)
        same_stamps(monkeypatch, before)
        (root / "b/SKILL.md").write_text(document("b", "Does a cling."), encoding="utf-8")
        diff = before.reload()
        assert [one.description for one in diff.changed] == ["Does a cling."]

    @pytest.mark.usefixtures("an_hour_later")
    def test_only_for_young_files_is_a_stamp_not_enough(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, read: list[str]
    ) -> None:
        before = sy.load_catalog(root)
        same_stamps(monkeypatch, before)
        assert before.reload().catalog is before
        assert len(read) == 3

    def test_a_young_file_that_stayed_the_same_settles(
        self, root: Path, read: list[str], request: pytest.FixtureRequest
    ) -> None:
        before = sy.load_catalog(root)
        request.getfixturevalue("an_hour_later")
        assert before.reload().catalog is before
        assert len(read) == 6
        assert before.reload().catalog is before
        assert len(read) == 6

    @pytest.mark.usefixtures("an_hour_later")
    def test_an_edit_that_puts_the_old_time_back_is_noticed(self, root: Path) -> None:
        path = root / "b/SKILL.md"
        before = sy.load_catalog(root)
        status = path.stat()
        path.write_text(document("b", "Does a cling."), encoding="utf-8")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        while path.stat().st_ctime_ns == status.st_ctime_ns:  # until the clock has ticked
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        after = path.stat()
        assert (after.st_mtime_ns, after.st_size) == (status.st_mtime_ns, status.st_size)
        assert [one.name for one in before.reload().changed] == ["b"]

    @pytest.mark.usefixtures("an_hour_later")
    def test_a_file_replaced_by_another_of_the_same_time_and_size_is_noticed(
        self, root: Path
    ) -> None:
        path = root / "b/SKILL.md"
        before = sy.load_catalog(root)
        status = path.stat()
        other = root / "other.txt"
        other.write_text(document("b", "Does a cling."), encoding="utf-8")
        os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
        other.replace(path)
        assert [one.name for one in before.reload().changed] == ["b"]


class TestSaid:
    def test_a_touched_file_is_no_change_and_its_new_time_is_known(self, root: Path) -> None:
        before = sy.load_catalog(root)
        os.utime(root / "a/SKILL.md", (1_700_000_000, 1_700_000_000))
        diff = before.reload()
        assert not diff
        assert diff.catalog.get("a").last_modified == 1_700_000_000
        assert diff.catalog.digest == before.digest

    def test_a_document_beside_a_skill_is_a_change_of_the_skill(self, root: Path) -> None:
        before = sy.load_catalog(root)
        write_tree(root, {"a/references/new.md": "x"})
        diff = before.reload()
        assert [one.name for one in diff.changed] == ["a"]
        assert [one.path for one in diff.catalog.get("a").references] == ["references/new.md"]

    def test_a_new_remark_gives_a_new_catalog_without_a_change_of_skills(self, root: Path) -> None:
        before = sy.load_catalog(root)
        write_tree(root, {"d/SKILL.md": "broken"})
        diff = before.reload()
        assert not diff
        assert diff.catalog is not before
        assert [found.code for found in diff.catalog.diagnostics] == ["frontmatter_missing"]
        (root / "loop").symlink_to("nowhere", target_is_directory=True)
        (root / "pipe").mkdir()
        os.mkfifo(root / "pipe/SKILL.md")
        codes = {found.code for found in diff.catalog.reload().catalog.diagnostics}
        assert "not_a_regular_file" in codes

    def test_roots_limits_and_scopes_are_kept(
        self, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home = write_tree(tmp_path / "home", {".claude/skills/u/SKILL.md": document("u")})
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
        limits = sy.DEFAULT_LIMITS._replace(skill_file_bytes=200)
        before = sy.load_catalog(root, scopes=("user",), limits=limits)
        write_tree(home, {".claude/skills/v/SKILL.md": document("v")})
        write_tree(root, {"d/SKILL.md": document("d", body="long " * 100)})
        diff = before.reload()
        assert [(one.name, one.scope) for one in diff.added] == [("v", "user")]
        assert [found.code for found in diff.catalog.diagnostics] == ["file_too_large"]
        assert diff.catalog.roots == (str(root),)

    def test_a_root_that_is_gone_is_an_error(self, root: Path) -> None:
        before = sy.load_catalog(root)
        root.rename(root.with_name("moved"))
        with pytest.raises(sy.InvalidSkillsRoot):
            before.reload()

    def test_progress_is_told(self, root: Path) -> None:
        told: list[tuple[int, int]] = []
        sy.load_catalog(root).reload(lambda done, total: told.append((done, total)))
        assert told[-1] == (3, 3)
