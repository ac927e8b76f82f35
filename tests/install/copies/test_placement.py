"""Writing a skill: all of it or nothing, and never over somebody's edits."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skillyard import SkillError, SkillIoError
from skillyard.engine.discovery.hosts import may_read_source, note_added_source
from skillyard.install.copies.file_paths import PathRefused
from skillyard.install.copies.folder_hash import folder_hash
from skillyard.install.copies.installed import Installed, InstallRefused
from skillyard.install.copies.placement import check_files
from tests.install.copies.placing import place
from tests.tables import for_each

OLD = {"SKILL.md": b"---\nname: a\ndescription: Old.\n---\n\nOld.\n", "references/x.md": b"old"}
NEW = {"SKILL.md": b"---\nname: a\ndescription: New.\n---\n\nNew.\n", "scripts/run.sh": b"new"}


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_skill_is_written_with_its_modes(tmp_path: Path) -> None:
    os.umask(0o022)
    placed = place(NEW, str(tmp_path / "skills"), "a", executable={"scripts/run.sh"})
    assert placed.state == "added"
    assert tree(tmp_path / "skills" / "a") == NEW
    modes = {p: stat.S_IMODE((tmp_path / "skills" / "a" / p).stat().st_mode) for p in NEW}
    assert modes == {"SKILL.md": 0o644, "scripts/run.sh": 0o755}
    assert [entry.name for entry in (tmp_path / "skills").iterdir()] == ["a"]


def test_what_nobody_installed_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_bytes(b"mine")
    with pytest.raises(InstallRefused, match="something else"):
        place(NEW, str(tmp_path), "a")
    (tmp_path / "b").write_bytes(b"a file")
    with pytest.raises(InstallRefused, match="a file is in the place"):
        place(NEW, str(tmp_path), "b")
    os.symlink(tmp_path / "a", tmp_path / "c")
    with pytest.raises(InstallRefused, match="the place is a link"):
        place(NEW, str(tmp_path), "c")
    assert tree(tmp_path / "a") == {"SKILL.md": b"mine"}


@for_each(
    "files",
    [
        {"references/x.md": b"x"},
        {**NEW, "../x": b""},
        {**NEW, "/etc/x": b""},
        {**NEW, "a\\b": b""},
        {**NEW, ".git/config": b""},
        {**NEW, "./x": b""},
        {**NEW, "SKILL.MD": b""},
        {**NEW, "scripts": b""},
        {"SKILL.md": b"no frontmatter"},
        {"SKILL.md": b"---\nname: [\n---\n"},
        {"SKILL.md": b"\xff\xfe\x00"},
        {"SKILL.md": "---\nname: a\u202eb\ndescription: x\n---\n".encode()},
    ],
)
def test_what_is_no_skill_is_refused_before_anything_is_written(files: Mapping[str, bytes]) -> None:
    with pytest.raises((SkillError, PathRefused)):
        check_files(files, "somewhere/SKILL.md")


@for_each("call", ["open", "fsync", "rename", "mkdir", "makedirs", "chmod"])
def test_every_failing_call_leaves_the_old_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """The n-th call of each kind fails, for every n until a run passes."""
    number = failed = 0
    while True:
        folder = tmp_path / f"{call}{number}"
        place(OLD, str(folder), "a")
        fault = _Fault(getattr(os, call), number)
        with monkeypatch.context() as patch:
            patch.setattr(os, call, fault)
            try:
                place(NEW, str(folder), "a", installed=Installed(folder_hash(OLD)))
            except (SkillIoError, InstallRefused):  # what cannot be looked at again comes back
                failed += 1
        assert tree(folder / "a") in (OLD, NEW)
        place(NEW, str(folder), "a", installed=Installed(folder_hash(OLD)))
        assert tree(folder / "a") == NEW
        assert [entry.name for entry in folder.iterdir()] == ["a"]
        if fault.left >= 0:
            break
        number += 1
    assert failed or call == "chmod"


class _Fault:
    """A call that fails once, after so many that did not."""

    def __init__(self, real: Callable[..., Any], left: int) -> None:
        self.real = real
        self.left = left

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.left -= 1
        if self.left == -1:
            raise OSError(28, "No space left on device")
        return self.real(*arguments, **named)


def test_a_skill_whose_name_begins_alike_keeps_what_is_being_written(tmp_path: Path) -> None:
    """`a` clears what its own stopped runs left, and nothing of `a-b`."""
    own = tmp_path / ".skillyard-new-a-x7_qk2ab"
    others = [tmp_path / f".skillyard-new-{name}-x7_qk2ab" for name in ("a-b", "ab")]
    for folder in (own, *others):
        folder.mkdir()
    place(NEW, str(tmp_path), "a")
    assert not own.exists()
    assert all(folder.is_dir() for folder in others)


@for_each(
    ("repository", "home", "may_read"),
    [
        ("all", "", True),
        ("all/one", "", False),
        ("", "", False),
        ("all", "all", False),
        ("all", "all/one", False),
        ("all", "all/home", False),
    ],
)
def test_a_lock_may_name_folders_of_its_repository_unless_that_holds_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: str, home: str, may_read: bool
) -> None:
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / (home or "elsewhere")))
    project, inside, other = (tmp_path / "all" / name for name in ("one", "one/x", "two"))
    for folder in (inside, other):
        folder.mkdir(parents=True)
    if repository:
        (tmp_path / repository / ".git").mkdir()
    assert may_read_source(str(inside), str(project))
    assert may_read_source(str(other), str(project)) == may_read
    assert not may_read_source(str(tmp_path), str(project))
    note_added_source(str(other))
    assert may_read_source(str(other), str(project))
