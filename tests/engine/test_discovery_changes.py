"""Folders that change, vanish or refuse while they are looked at: nothing outside is listed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.engine import resources
from skillyard.engine.catalog.entries import refresh
from skillyard.engine.discovery.layout import Root, Scan
from skillyard.engine.discovery.walk import scan
from tests.parity.trees import relative, write_tree
from tests.worked_examples.making import document

Swap = Callable[[], None]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path / "outside", {"b/SKILL.md": document("secret"), "b/docs/s.md": "x"})
    files = {"a/b/SKILL.md": document("b"), "a/b/docs/d.md": "x", "z/SKILL.md": document("z")}
    return write_tree(tmp_path / "root", files)


def look(root: Path) -> Scan:
    return scan([Root(str(root))])


def found(root: Path, scan: Scan) -> tuple[list[str], list[str]]:
    return (
        [relative(candidate.path, root) for candidate in scan.candidates],
        [diagnostic.code for diagnostic in scan.diagnostics],
    )


def before_opening(monkeypatch: pytest.MonkeyPatch, ending: str, swap: Swap) -> None:
    """Let ``swap`` happen once, when the folder of that ending is about to be opened."""
    real = os.open
    done: list[str] = []

    def opening(path: str, flags: int, *, dir_fd: int | None = None) -> int:
        if path.endswith(ending) and not done:
            done.append(path)
            swap()
        return real(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", opening)


def linked_away(root: Path, name: str, target: str) -> Swap:
    def swap() -> None:
        (root / name).rename(root / "moved")
        (root / name).symlink_to(root.parent / "outside" / target, target_is_directory=True)

    return swap


def test_a_folder_swapped_for_a_link_is_not_entered(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_opening(monkeypatch, "a/b", linked_away(root, "a/b", "b"))
    assert found(root, look(root)) == (["z/SKILL.md"], ["folder_unreadable"])


@pytest.mark.parametrize(
    ("nth", "files", "codes"),
    [
        (1, [], ["folder_unreadable"]),
        (3, ["z/SKILL.md"], ["folder_unreadable"]),  # a/b
        (4, ["a/b/SKILL.md", "z/SKILL.md"], []),  # the documents of a/b
    ],
)
def test_a_folder_that_fails_while_it_is_listed_costs_no_other(
    root: Path, monkeypatch: pytest.MonkeyPatch, nth: int, files: list[str], codes: list[str]
) -> None:
    real, calls = os.scandir, []

    def scandir(path: int) -> object:
        calls.append(path)
        if len(calls) == nth:
            raise OSError(5, "Input/output error")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert found(root, look(root)) == (files, codes)


def test_a_link_that_cannot_be_resolved_leads_nowhere(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "link").symlink_to("a", target_is_directory=True)
    real = os.path.realpath

    def realpath(path: str) -> str:
        if path.endswith("link"):
            raise OSError(40, "Too many levels of symbolic links")
        return real(path)

    monkeypatch.setattr(os.path, "realpath", realpath)
    scanned = look(root)
    assert found(root, scanned) == (["a/b/SKILL.md", "z/SKILL.md"], ["link_broken"])


class TestWhileLoading:
    def test_a_file_replaced_between_finding_and_reading_is_read_at_the_next_load(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        done: list[str] = []

        def read_file(path: str, max_bytes: int, shown: str = "") -> object:
            if path.endswith("z/SKILL.md") and not done:
                done.append(path)
                (root / "new.md").write_text(document("new"), encoding="utf-8")
                (root / "new.md").replace(path)
            return resources.read_file(path, max_bytes, shown)

        monkeypatch.setattr("skillyard.engine.catalog.entries.read_file", read_file)
        loaded = sy.load_catalog(root, index=False)
        assert [skill.name for skill in loaded] == ["b"]
        assert [d.code for d in loaded.diagnostics] == ["changed_while_reading"]
        assert [skill.name for skill in loaded.reload().added] == ["new"]

    def test_a_skill_whose_path_cannot_be_resolved_any_more_is_opened_without_links(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loaded = sy.load_catalog(root)

        def realpath(path: str) -> str:
            raise OSError(40, "Too many levels of symbolic links")

        with monkeypatch.context() as patched:
            patched.setattr(os.path, "realpath", realpath)
            assert refresh(loaded.get("z")) == loaded.get("z")
            (root / "z/SKILL.md").rename(root / "z/moved.md")
            (root / "z/SKILL.md").symlink_to("moved.md")
            with pytest.raises(sy.SkillIoError):
                refresh(loaded.get("z"))
