"""Removes a skill's folders and its entry in the lock file: both or neither.

The folders are moved aside, the entry is dropped, and then the folders are deleted. A folder with
local changes is refused, or moved to a backup. The next run ends a stopped one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from skillyard.base.errors import SkillIoError
from skillyard.base.io.folder_manifest import FolderManifest
from skillyard.base.shapes.installation import RemovedFolder
from skillyard.base.text import folder_name
from skillyard.install.copies.installed import (
    Installed,
    InstallRefused,
    check_installed,
    manifest_at,
)
from skillyard.install.copies.lock_entries import LockedSkill
from skillyard.install.copies.project_lock import ProjectLock, alone
from skillyard.install.copies.record import forget_written
from skillyard.install.copies.recovery import (
    aside_of,
    backup_folder,
    complete,
    discard,
    give_back,
    move_to_backup,
    note_change,
    take_aside,
)


class _Copy(NamedTuple):
    """One folder to remove."""

    into: str
    there: FolderManifest
    edited: bool


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
        with alone(*folders) as is_alone:
            existing = list(filter(os.path.isdir, folders))
            for into in existing:
                complete(into, name, lock, is_alone=is_alone)
            if check is not None:
                check()
            candidates = [
                _copy(into, name, Installed.by(entry), backup=backup) for into in existing
            ]
            copies = [copy for copy in candidates if copy is not None]
            try:
                for into, there, edited in copies:
                    note_change(into, name, "" if edited else there.digest, "")
                    take_aside(into, name, there)
                lock.drop(entry.name)
            except Exception:  # after an interrupt the next run completes this one
                for copy in copies:
                    give_back(copy.into, name)
                raise
            if unlink is not None:
                unlink()
            return [_delete(copy, name) for copy in copies]
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
            return _Copy(into, there, edited=True)
        raise InstallRefused(
            str(error.message),
            path=target,
            code="install_edited",
            hint="keep your changes elsewhere, or say --backup to move the folder aside",
        ) from None
    return _Copy(into, there, edited=False)


def _delete(copy: _Copy, name: str) -> RemovedFolder:
    place, target = None, os.path.join(copy.into, name)
    if copy.edited:
        place = move_to_backup(aside_of(copy.into, name), copy.into, name)
        forget_written(aside_of(copy.into, name))
    else:
        discard(copy.into, name)
    forget_written(target)
    return RemovedFolder(folder=target, backup=place)
