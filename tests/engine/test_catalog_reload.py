"""Reload: what is read again, what is kept, what is noticed, and what is said about it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import skillyard as sy
from skillyard.engine import resources
from skillyard.engine.discovery.layout import Scan
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
    monkeypatch.setattr("skillyard.engine.discovery.walk.scan", lambda *_: Scan(candidates, (), 1))


class TestRead:
    @pytest.mark.usefixtures("an_hour_later")
    def test_a_settled_file_that_looks_the_same_is_not_read_again(
        self, root: Path, read: list[str]
    ) -> None:
        before = sy.load_catalog(root, index=False)
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


class TestSaid:
    def test_a_touched_file_is_no_change_and_its_new_time_is_known(self, root: Path) -> None:
        before = sy.load_catalog(root)
        os.utime(root / "a/SKILL.md", (1_700_000_000, 1_700_000_000))
        diff = before.reload()
        assert not diff
        assert diff.catalog.get("a").last_modified == 1_700_000_000
        assert diff.catalog.digest == before.digest

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
