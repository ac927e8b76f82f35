"""Completes or undoes what a stopped run left in a folder of skills.

A replacement is committed once the new folder is in place: its entry is then noted. A removal is
committed once its entry is no longer in the lock file: the folder is then deleted, or moved to its
backup, and before that it is put back.
"""

from __future__ import annotations

import os
import shutil
import stat

from skillyard.io.files import refuse_link, rename_folder, sync_folder
from skillyard.io.folder_manifest import manifest_of
from skillyard.remote.install.installed import Installed, note_installed
from skillyard.remote.install.journal import (
    Journal,
    is_unfinished_journal,
    journal_name,
    read_journal,
    remove_journal,
)
from skillyard.remote.install.lock_entries import folder_name
from skillyard.remote.install.project_lock import ProjectLock
from skillyard.remote.install.refusal import InstallRefused
from skillyard.remote.install.swap import ASIDE, BESIDE, LIMITS, aside_of, discard_aside, put_back

__all__ = ["backup_folder", "complete", "move_to_backup", "stopped_runs"]


def stopped_runs(into: str) -> list[str]:
    """Return the names of the folders in ``into`` at which runs were stopped or still are, sorted.

    Raises OSError.
    """
    names = set()
    for file in os.listdir(into):
        if file.startswith(BESIDE):  # then the name, a hyphen and something random
            names.add(file.removeprefix(BESIDE).rpartition("-")[0])
        elif file.startswith(ASIDE):
            names.add(file.removeprefix(ASIDE))
        else:
            names.add(journal_name(file))
    return sorted(name for name in names if name and folder_name(name) == name)


def complete(into: str, name: str, lock: ProjectLock | None) -> Installed | None:
    """Complete a stopped run; return what it installed, None where it installed nothing.

    The caller is alone in ``into``. Raises OSError, SkillIoError, and InstallRefused for a folder
    that no run left so.
    """
    target = os.path.join(into, name)
    for left in os.listdir(into):
        # The part after the last hyphen is random: `a` must not match the folder of `a-b`.
        if left.rpartition("-")[0] == f"{BESIDE}{name}":
            shutil.rmtree(os.path.join(into, left), ignore_errors=True)
        elif is_unfinished_journal(left, name):
            os.unlink(os.path.join(into, left))
    journal = read_journal(into, name)
    if os.path.lexists(aside_of(into, name)):
        if journal is not None and journal.removes:
            _end_removal(into, name, journal, lock)
        else:
            _clear_aside(into, name, journal)
    completed = None
    if journal is not None and os.path.isdir(target) and not os.path.islink(target):
        there = manifest_of(target, LIMITS)
        entry = journal.entry
        if there.digest == journal.new and entry is not None:
            if lock is not None:
                lock.note(entry)
            note_installed(target, there)
            completed = Installed.by(entry)
    remove_journal(into, name)
    return completed


def _clear_aside(into: str, name: str, journal: Journal | None) -> None:
    """Remove the folder that a stopped replacement moved aside, or restore it when needed."""
    target, aside = os.path.join(into, name), aside_of(into, name)
    # What came with a clone is not read: a link could lead anywhere.
    if journal is None or os.path.islink(target) or os.path.islink(aside):
        raise _strange(aside)
    if not os.path.lexists(target):
        return rename_folder(aside, target)
    if manifest_of(aside, LIMITS).digest in (journal.old, journal.new):
        return discard_aside(into, name)
    new = manifest_of(target, LIMITS)
    if new.digest != journal.new:
        raise _strange(aside)
    put_back(into, name, new)  # the old folder was changed during the exchange
    return None


def _end_removal(into: str, name: str, journal: Journal, lock: ProjectLock | None) -> None:
    """Put back the folder of a stopped removal, or remove it when the entry is gone."""
    target, aside = os.path.join(into, name), aside_of(into, name)
    entry = journal.entry
    is_locked = lock is None or entry is None or lock.read().get(entry.name) is not None
    if is_locked and not os.path.lexists(target):
        rename_folder(aside, target)
        sync_folder(into)
    elif is_locked:  # somebody installed it again meanwhile
        raise _strange(aside)
    elif journal.backup or manifest_of(aside, LIMITS).digest != journal.old:
        move_to_backup(aside, into, name)
    else:
        discard_aside(into, name)


def backup_folder(into: str) -> str:
    """Return where backups of ``into`` go: ``.agents/skills-kept`` for those of ``.agents/skills``.

    Raises InstallRefused where something else is: a clone may hold a link to another place there.
    """
    plain = os.path.normpath(into)
    if os.path.islink(plain) or os.path.basename(plain) in ("", ".", ".."):
        plain = os.path.realpath(plain)
    backups = f"{plain}-kept"
    try:
        is_folder = stat.S_ISDIR(refuse_link(backups).st_mode)
    except FileNotFoundError:
        return backups
    except OSError:  # a link
        is_folder = False
    if is_folder:
        return backups
    raise InstallRefused(
        "the place of backups is a link or a file",
        path=backups,
        code="install_link",
        hint="remove it, then run the command again",
    )


def move_to_backup(folder: str, into: str, name: str) -> str:
    """Move a folder to the backups, out of where hosts look; return where.

    Raises OSError, InstallRefused.
    """
    backups = backup_folder(into)
    os.makedirs(backups, exist_ok=True)
    number = 1
    while os.path.lexists(
        place := os.path.join(backups, name if number == 1 else f"{name}-{number}")
    ):
        number += 1
    rename_folder(folder, place)
    sync_folder(backups)
    return place


def _strange(aside: str) -> InstallRefused:
    return InstallRefused(
        "a run that was stopped left a folder that is not what it wrote",
        path=aside,
        code="install_edited",
        hint="look at it, keep what you need of it, and remove it",
    )
