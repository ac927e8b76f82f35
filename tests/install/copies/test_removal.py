"""Removing a skill, and replacing several copies of one: all of it or nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillyard import SkillIoError
from skillyard.install.copies import placement
from skillyard.install.copies.folder_hash import folder_hash
from skillyard.install.copies.installed import Installed, InstallRefused
from skillyard.install.copies.lockfile import LockedSkill, ProjectLock
from skillyard.install.copies.placement import (
    complete,
    content_digest,
    place_copies,
    remove_copies,
    take_aside,
)
from tests.install.copies.test_placement import NEW, OLD, tree
from tests.tables import for_each

COPIES = ("one", "two")


def entry(files: dict[str, bytes]) -> LockedSkill:
    return LockedSkill(
        "a", "acme/a", "github", computed_hash=folder_hash(files), digest=content_digest(files)
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two copies of a skill, in ``project``."""
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    return installed(tmp_path / "project")


def installed(folder: Path) -> Path:
    folder.mkdir()
    folders = [str(folder / copy) for copy in COPIES]
    place_copies(OLD, folders, "a", lock_of(folder), entry=entry(OLD))
    return folder


def lock_of(folder: Path) -> ProjectLock:
    return ProjectLock(str(folder / "skills-lock.json"))


def nothing() -> None:
    """Check nothing, and unlink nothing."""


def remove(folder: Path, *, backup: bool = False) -> None:
    folders = [str(folder / copy) for copy in COPIES]
    remove_copies(
        folders, entry(OLD), lock_of(folder), backup=backup, check=nothing, unlink=nothing
    )


def replace(folder: Path) -> None:
    folders = [str(folder / copy) for copy in COPIES]
    place_copies(
        NEW,
        folders,
        "a",
        lock_of(folder),
        installed=Installed.by(entry(OLD)),
        entry=entry(NEW),
    )


def state(folder: Path) -> tuple[Any, ...]:
    """Return the files of each copy, and the digest in the lock."""
    locked = lock_of(folder).read().get("a")
    trees = [tree(folder / copy / "a") for copy in COPIES]
    return (*trees, None if locked is None else locked.digest)


def leftovers(folder: Path) -> list[str]:
    names = [path.name for copy in COPIES for path in (folder / copy).iterdir()]
    return [name for name in names if name != "a"]


BEFORE = (OLD, OLD, content_digest(OLD))
Change = Callable[[Path], None]
AFTER: dict[Change, tuple[Any, ...]] = {
    remove: ({}, {}, None),
    replace: (NEW, NEW, content_digest(NEW)),
}


@for_each("change", [remove, replace])
def test_a_copy_that_is_edited_at_that_moment_brings_all_back(
    tmp_path: Path, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = installed(tmp_path / change.__name__)

    def edited(into: str, name: str, there: Any, **digests: str) -> None:
        if "two" in into:
            Path(into, name, "SKILL.md").write_bytes(b"mine")
        real(into, name, there, **digests)

    real = take_aside
    with monkeypatch.context() as patch:
        patch.setattr(placement, "take_aside", edited)
        with pytest.raises(InstallRefused, match="was changed meanwhile"):
            change(project)
    mine = {**OLD, "SKILL.md": b"mine"}
    assert state(project) == (OLD, mine, content_digest(OLD))
    assert leftovers(project) == []


@for_each("change", [remove, replace])
def test_what_was_aside_while_a_folder_of_the_users_took_its_place_is_kept(
    tmp_path: Path, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = installed(tmp_path / change.__name__)

    def saved_and_killed(into: str, name: str, there: Any, **digests: str) -> None:
        real(into, name, there, **digests)
        Path(into, name).mkdir()
        Path(into, name, "mine").write_bytes(b"mine")
        raise KeyboardInterrupt

    real = take_aside
    with monkeypatch.context() as patch:
        patch.setattr(placement, "take_aside", saved_and_killed)
        with pytest.raises(KeyboardInterrupt):
            change(project)
    complete(str(project / "one"), "a", lock_of(project))
    assert tree(project / "one" / "a") == {"mine": b"mine"}
    assert tree(project / "one-kept" / "a") == OLD
    assert leftovers(project) == []


def test_what_is_saved_to_a_copy_whose_lock_cannot_be_written_is_kept(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edited_and_full(*_: object) -> None:
        (project / "two" / "a" / "mine").write_bytes(b"mine")
        raise SkillIoError("cannot write", path="skills-lock.json")

    with monkeypatch.context() as patch:
        patch.setattr(ProjectLock, "note", edited_and_full)
        with pytest.raises(SkillIoError, match="cannot write"):
            replace(project)
    assert state(project) == (OLD, {**NEW, "mine": b"mine"}, content_digest(OLD))
    assert tree(project / "two-kept" / "a") == OLD
    assert not (project / "one-kept").exists()
    assert leftovers(project) == []


def test_backups_of_edited_copies_have_names_of_their_own(project: Path) -> None:
    (project / "two" / "a" / "SKILL.md").write_bytes(b"mine")
    remove(project, backup=True)
    assert state(project) == AFTER[remove]
    assert (project / "two-kept" / "a" / "SKILL.md").read_bytes() == b"mine"
    assert not (project / "one-kept").exists()
    place_copies(OLD, [str(project / "two")], "a", lock_of(project), entry=entry(OLD))
    (project / "two" / "a" / "SKILL.md").write_bytes(b"mine again")
    remove(project, backup=True)
    assert (project / "two-kept" / "a-2" / "SKILL.md").read_bytes() == b"mine again"


@for_each("kind", ["link", "link to nothing", "file"])
def test_a_backup_is_not_written_through_a_link_that_came_with_a_clone(
    project: Path, tmp_path: Path, kind: str
) -> None:
    outside, kept = tmp_path / "outside", project / "two-kept"
    if kind == "file":
        kept.write_bytes(b"")
    else:
        kept.symlink_to(outside)
    if kind == "link":
        outside.mkdir()
    (project / "two" / "a" / "SKILL.md").write_bytes(b"mine")
    before = state(project)
    with pytest.raises(InstallRefused, match="the place of backups is a link or a file"):
        remove(project, backup=True)
    assert state(project) == before
    assert leftovers(project) == []
    kept.unlink()
    if kind == "link":
        outside.rmdir()  # nothing is in it
    assert not outside.exists()


def test_a_link_in_the_place_of_a_folder_aside_is_left_alone(project: Path, tmp_path: Path) -> None:
    aside = project / "one" / ".skillyard-swap-a"
    aside.symlink_to(tmp_path)
    complete(str(project / "one"), "a", lock_of(project))
    with pytest.raises(SkillIoError, match="cannot write"):
        replace(project)
    assert (state(project), leftovers(project)) == (BEFORE, [aside.name])


@for_each("locked", [True, False])
def test_what_no_run_of_this_user_moved_aside_is_never_deleted(project: Path, locked: bool) -> None:
    """A clone may bring such a folder: nothing says what a run would have expected in it."""
    folder = project / "one"
    aside = folder / ".skillyard-swap-a"
    shutil.copytree(folder / "a", aside)
    if not locked:
        lock_of(project).drop("a")
        shutil.rmtree(folder / "a")
    complete(str(folder), "a", lock_of(project))
    assert not aside.exists()
    assert tree(project / "one-kept" / "a") == OLD
    assert tree(folder / "a") == (OLD if locked else {})


def test_what_was_written_after_a_stopped_replacement_stays(project: Path) -> None:
    folder = project / "one"

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProjectLock, "note", stopped)
        with pytest.raises(KeyboardInterrupt):
            replace(project)
    (folder / "a" / "mine").write_bytes(b"mine")
    for copy in COPIES:
        complete(str(project / copy), "a", lock_of(project))
    assert state(project) == ({**NEW, "mine": b"mine"}, OLD, content_digest(OLD))
    assert leftovers(project) == []
