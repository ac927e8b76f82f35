"""Removes a skill's folders and its entry in the lock file: both or neither.

The folders are moved aside, the entry is dropped, and then the folders are deleted. A folder with
local changes is refused, or moved to a backup. The journal lets the next run end a stopped one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from skillyard.errors import SkillIoError
from skillyard.io.files import rename_folder, sync_folder
from skillyard.io.folder_manifest import Manifest
from skillyard.remote.install.exclusive import alone
from skillyard.remote.install.installed import Installed, check_installed, manifest_at
from skillyard.remote.install.journal import Journal, remove_journal, write_journal
from skillyard.remote.install.lock_entries import LockedSkill, folder_name
from skillyard.remote.install.project_lock import ProjectLock
from skillyard.remote.install.record import forget_written
from skillyard.remote.install.recovery import backup_folder, complete, move_to_backup
from skillyard.remote.install.refusal import InstallRefused
from skillyard.remote.install.swap import aside_of, discard_aside, is_still

__all__ = ["RemovedFolder", "remove_copies"]


class RemovedFolder(NamedTuple):
    """One folder that is gone."""

    folder: str
    backup: str = ""
    """Where it is now, if it had local changes."""


class _Copy(NamedTuple):
    """One folder to remove."""

    into: str
    name: str
    there: Manifest
    edited: bool

    @property
    def target(self) -> str:
        return os.path.join(self.into, self.name)

    @property
    def aside(self) -> str:
        return aside_of(self.into, self.name)


def remove_copies(
    folders: Sequence[str],
    entry: LockedSkill,
    lock: ProjectLock,
    *,
    backup: bool = False,
    check: Callable[[], None] | None = None,
    unlink: Callable[[], None] | None = None,
) -> list[RemovedFolder]:
    """Remove the folder of an entry from each of ``folders``, and the entry from the lock.

    With ``backup`` a folder with local changes is moved to a backup; otherwise it is refused and
    nothing is removed. ``check`` is called before anything is removed, when no other run can change
    the folders, and may raise. ``unlink`` removes links to the folders and is called once they are
    gone; the next run does that for a stopped one. Raises InstallRefused, SkillIoError.
    """
    name = folder_name(entry.name)
    try:
        with alone(*folders):
            existing = list(filter(os.path.isdir, folders))
            completed = [complete(into, name, lock) for into in existing]
            if check is not None:
                check()
            copies = []
            for into, held in zip(existing, completed, strict=True):
                copy = _copy(into, name, held or Installed.by(entry), backup=backup)
                copies += [copy] if copy is not None else []
            for copy in copies:
                write_journal(copy.into, name, Journal(copy.there.digest, "", entry, copy.edited))
            _take_out(copies, entry, lock)
            if unlink is not None:
                unlink()
            return [_delete(copy) for copy in copies]
    except OSError as error:
        raise SkillIoError(
            f"cannot remove: {error.strerror or error}",
            path=error.filename or name,
            code="install_unwritable",
            hint="check that the folder may be written",
        ) from None


def _copy(into: str, name: str, installed: Installed, *, backup: bool) -> _Copy | None:
    """Return a folder that may be removed; None when there is none. Raises InstallRefused."""
    target = os.path.join(into, name)
    there = manifest_at(target)
    if there is None:
        return None
    try:
        check_installed(there, target, installed)
    except InstallRefused as error:
        if backup:
            backup_folder(into)
            return _Copy(into, name, there, edited=True)
        raise _refused(target, str(error.message)) from None
    return _Copy(into, name, there, edited=False)


def _take_out(copies: Sequence[_Copy], entry: LockedSkill, lock: ProjectLock) -> None:
    """Move every folder aside and drop the entry; neither when a folder is changed just then."""
    moved: list[_Copy] = []
    try:
        for copy in copies:
            rename_folder(copy.target, copy.aside)
            moved.append(copy)
            sync_folder(copy.into)
            if not is_still(copy.aside, copy.there):
                raise _refused(copy.target, "the folder was changed while it was removed")
        lock.drop(entry.name)
    except Exception:
        for copy in reversed(moved):
            rename_folder(copy.aside, copy.target)
        for copy in copies:
            remove_journal(copy.into, copy.name)
        raise


def _delete(copy: _Copy) -> RemovedFolder:
    place = ""
    if copy.edited:
        place = move_to_backup(copy.aside, copy.into, copy.name)
    else:
        discard_aside(copy.into, copy.name)
    remove_journal(copy.into, copy.name)
    forget_written(copy.target)
    return RemovedFolder(copy.target, place)


def _refused(target: str, what: str) -> InstallRefused:
    return InstallRefused(
        what,
        path=target,
        code="install_edited",
        hint="keep your changes elsewhere, or say --backup to move the folder aside",
    )
