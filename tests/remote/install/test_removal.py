"""Removing a skill, and replacing several copies of one: all of it or nothing, at every call."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillyard.io.folder_manifest import manifest_of
from skillyard.remote.install import removal, swap
from skillyard.remote.install.folder_hash import folder_hash
from skillyard.remote.install.installed import Installed
from skillyard.remote.install.journal import Journal, read_journal, write_journal
from skillyard.remote.install.lock_entries import LockedSkill
from skillyard.remote.install.placement import content_digest, place_copies
from skillyard.remote.install.project_lock import ProjectLock
from skillyard.remote.install.recovery import complete
from skillyard.remote.install.refusal import InstallRefused
from skillyard.remote.install.removal import remove_copies
from tests.remote.install.test_placement import NEW, OLD, tree
from tests.tables import for_each

CALLS = ("open", "fsync", "rename", "replace", "mkdir", "makedirs", "chmod", "unlink", "rmdir")
COPIES = ("one", "two")
EXCHANGED = swap._exchanged


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
    place_copies(OLD, folders, "a", entry=entry(OLD), lock=lock_of(folder))
    return folder


def lock_of(folder: Path) -> ProjectLock:
    return ProjectLock(str(folder / "skills-lock.json"))


def remove(folder: Path, *, backup: bool = False) -> None:
    folders = [str(folder / copy) for copy in COPIES]
    remove_copies(folders, entry(OLD), lock_of(folder), backup=backup)


def replace(folder: Path) -> None:
    folders = [str(folder / copy) for copy in COPIES]
    place_copies(
        NEW,
        folders,
        "a",
        installed=Installed.by(entry(OLD)),
        entry=entry(NEW),
        lock=lock_of(folder),
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


def killed_at(call: int, folder: Path, change: Change) -> bool:
    """Run a change in a forked child that is killed at its n-th call; False when it ended."""
    process = os.fork()
    if process == 0:
        left = call

        def counted(real: Callable[..., Any]) -> Callable[..., Any]:
            def count(*arguments: Any, **named: Any) -> Any:
                nonlocal left
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*arguments, **named)

            return count

        for name in CALLS:
            setattr(os, name, counted(getattr(os, name)))
        swap._exchanged = counted(swap._exchanged)
        try:
            change(folder)
        except BaseException:  # noqa: BLE001 - the parent sees the code
            os._exit(70)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no child can be forked")
@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.slow)])
@for_each("change", [remove, replace])
@for_each("exchange", [True, False])
def test_a_run_killed_at_any_call_is_completed_or_undone(
    tmp_path: Path,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Change,
    exchange: bool,
    step: int,
) -> None:
    exchanged = EXCHANGED if exchange else lambda one, other: False
    monkeypatch.setattr(swap, "_exchanged", exchanged)
    seen = set()
    for call in range(1, 400, step):
        folder = Path(shutil.copytree(project, tmp_path / f"{call}"))
        killed = killed_at(call, folder, change)
        lock = lock_of(folder)
        for copy in COPIES:
            complete(str(folder / copy), "a", lock)
        now = state(folder)
        assert leftovers(folder) == [], call
        if now not in (BEFORE, AFTER[change]):
            # A copy that is still the old one has no local changes, and is replaced now.
            assert (change, now[2]) == (replace, content_digest(NEW)), (call, now)
        seen.add(now[2])
        change(folder)
        assert state(folder) == AFTER[change], call
        assert leftovers(folder) == [], call
        shutil.rmtree(folder)
        if not killed:
            assert seen == {BEFORE[2], AFTER[change][2]}
            return
    pytest.fail("the run never passed")


@for_each("change", [remove, replace])
def test_one_copy_that_was_edited_stops_the_change_of_all(project: Path, change: Change) -> None:
    (project / "two" / "a" / "mine").write_bytes(b"mine")
    before = state(project)
    with pytest.raises(InstallRefused, match="something else than what was installed"):
        change(project)
    assert state(project) == before
    assert leftovers(project) == []


@for_each("change", [remove, replace])
def test_a_copy_that_is_edited_at_that_moment_brings_all_back(
    tmp_path: Path, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = installed(tmp_path / change.__name__)

    def edited(folder: str, there: Any) -> bool:
        path = Path(folder) / "SKILL.md"
        if "two" in folder and path.read_bytes() == OLD["SKILL.md"]:
            path.write_bytes(b"mine")
        return real(folder, there)

    real = swap.is_still
    with monkeypatch.context() as patch:
        patch.setattr(swap, "is_still", edited)
        patch.setattr(removal, "is_still", edited)
        with pytest.raises(InstallRefused, match="was changed while it was"):
            change(project)
    mine = {**OLD, "SKILL.md": b"mine"}
    assert state(project) == (OLD, mine, content_digest(OLD))
    assert leftovers(project) == []


def test_backups_of_edited_copies_have_names_of_their_own(project: Path) -> None:
    (project / "two" / "a" / "SKILL.md").write_bytes(b"mine")
    remove(project, backup=True)
    assert state(project) == AFTER[remove]
    assert (project / "two-kept" / "a" / "SKILL.md").read_bytes() == b"mine"
    assert not (project / "one-kept").exists()
    place_copies(OLD, [str(project / "two")], "a", entry=entry(OLD), lock=lock_of(project))
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


def test_a_folder_aside_that_is_a_link_is_not_read(project: Path, tmp_path: Path) -> None:
    (project / "one" / f"{swap.ASIDE}a").symlink_to(tmp_path / "nothing")  # reading it would fail
    with pytest.raises(InstallRefused, match="look at it"):
        complete(str(project / "one"), "a", lock_of(project))


@for_each(
    "text",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"old": "", "new": "", "name": "b", "entry": {"source": "x"}, "backup": true}',
        b'{"old": 1, "new": 2, "name": null, "entry": null}',
        b"[" * 100_000,
    ],
)
def test_a_journal_that_came_with_a_clone_changes_nothing(project: Path, text: bytes) -> None:
    (project / "one" / ".skillyard-journal-a").write_bytes(text)
    complete(str(project / "one"), "a", lock_of(project))
    assert state(project) == BEFORE
    assert leftovers(project) == []


def test_a_journal_of_another_machine_counts_as_none(project: Path) -> None:
    """A clone brings a journal that would give the folder another source, or delete it."""
    folder = project / "one"
    stolen = dataclasses.replace(entry(OLD), source="evil/repo")
    there = manifest_of(str(folder / "a"), swap.LIMITS).digest
    for journal in (Journal("", there, stolen), Journal(there, "", entry(OLD))):
        write_journal(str(folder), "a", journal)
        shutil.rmtree(project.parent / "state")
        assert read_journal(str(folder), "a") is None
        complete(str(folder), "a", lock_of(project))
        assert state(project) == BEFORE
        assert leftovers(project) == []
    write_journal(str(folder), "a", Journal(there, "", entry(OLD)))
    shutil.rmtree(project.parent / "state")
    (folder / "a").rename(folder / f"{swap.ASIDE}a")
    lock_of(project).drop("a")
    with pytest.raises(InstallRefused, match="look at it"):
        complete(str(folder), "a", lock_of(project))
    assert (folder / f"{swap.ASIDE}a" / "SKILL.md").exists()


def test_a_stopped_removal_keeps_a_folder_that_it_did_not_move(project: Path) -> None:
    folder = project / "one"
    write_journal(str(folder), "a", Journal("0", "", entry(OLD)))
    (folder / "a").rename(folder / f"{swap.ASIDE}a")
    (folder / f"{swap.ASIDE}a" / "mine").write_bytes(b"mine")
    lock_of(project).drop("a")
    complete(str(folder), "a", lock_of(project))
    assert (project / "one-kept" / "a" / "mine").read_bytes() == b"mine"
