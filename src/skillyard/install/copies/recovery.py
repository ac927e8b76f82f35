"""Moves a folder aside while another one takes its place, and ends what a stopped run left.

What lay in the place of a skill is aside until the lock file is written; an empty folder stands for
nothing. So whatever is aside belongs to a stopped run, and the lock file says how to end it. A
replacement that is not in the lock is undone. A removal is completed once its entry is gone, and is
undone before. The user's own records say which digests the run expected: what has another one was
edited since, and stays or goes to the backups. So does what is aside when somebody's folder took
its place.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat

from skillyard.base.errors import SkillIoError
from skillyard.base.io.files import refuse_link, rename_folder, sync_folder
from skillyard.base.io.folder_manifest import FolderManifest, manifest_of
from skillyard.base.text import folder_name
from skillyard.install.copies.installed import LIMITS, Installed, InstallRefused, note_installed
from skillyard.install.copies.project_lock import ProjectLock
from skillyard.install.copies.record import forget_written, note_written, written_digest

_BESIDE = ".skillyard-new-"
"""Prefix of folders that are being written or deleted; the next run deletes leftovers."""
_ASIDE = ".skillyard-swap-"
"""Prefix of the folder that is aside."""


def aside_of(into: str, name: str) -> str:
    """Return where the folder ``name`` in ``into`` lies while it is aside."""
    return os.path.join(into, f"{_ASIDE}{name}")


def beside_of(into: str, name: str) -> str:
    """Return a free path beside ``name`` in ``into``."""
    return os.path.join(into, f"{_BESIDE}{name}-{secrets.token_hex(4)}")


def is_stopped(into: str, name: str) -> bool:
    """True where something is aside. A link is not: a clone may hold one."""
    aside = aside_of(into, name)
    return os.path.isdir(aside) and not os.path.islink(aside)


def note_change(into: str, name: str, old: str, new: str) -> None:
    """Note the digests of what is to be moved aside, and of what is to take its place."""
    note_written(aside_of(into, name), f"{old} {new}")


def take_aside(into: str, name: str, there: FolderManifest | None) -> None:
    """Move a folder aside. ``there`` is what it is expected to be, None for nothing.

    Raises OSError, and InstallRefused for a folder that is something else, which stays.
    """
    aside = aside_of(into, name)
    if there is None:
        os.mkdir(aside)
        return
    rename_folder(os.path.join(into, name), aside)
    sync_folder(into)
    try:
        is_same = manifest_of(aside, LIMITS) == there
    except (OSError, SkillIoError):
        is_same = False
    if not is_same:
        give_back(into, name)
        raise InstallRefused(
            "the folder was changed meanwhile, and stays as it is",
            path=os.path.join(into, name),
            code="install_edited",
            hint="run the command again",
        )


def give_back(into: str, name: str) -> None:
    """Put back what is aside, if anything is. Raises OSError."""
    if not is_stopped(into, name):
        return
    aside = aside_of(into, name)
    if os.listdir(aside):
        rename_folder(aside, os.path.join(into, name))
    else:
        os.rmdir(aside)
    sync_folder(into)
    forget_written(aside)


def discard(into: str, name: str) -> None:
    """Delete what is aside, so that a stopped run leaves no part of it there. Raises OSError."""
    disposable = beside_of(into, name)
    rename_folder(aside_of(into, name), disposable)
    forget_written(aside_of(into, name))
    shutil.rmtree(disposable, ignore_errors=True)


def stopped_runs(into: str) -> list[str]:
    """Return the names of the folders in ``into`` at which runs were stopped or still are, sorted.

    Raises OSError.
    """
    names = set()
    for file in os.listdir(into):
        if file.startswith(_BESIDE):  # then the name, a hyphen and something random
            names.add(file.removeprefix(_BESIDE).rpartition("-")[0])
        elif file.startswith(_ASIDE):
            names.add(file.removeprefix(_ASIDE))
    return sorted(name for name in names if name and folder_name(name) == name)


def complete(into: str, name: str, lock: ProjectLock | None, *, is_alone: bool = True) -> None:
    """Complete or undo a stopped run.

    Where the caller could not lock ``into``, folders that are being written may be those of another
    run, and stay. Raises OSError, SkillIoError, InstallRefused.
    """
    target, aside = os.path.join(into, name), aside_of(into, name)
    for left in os.listdir(into) if is_alone else ():
        # The part after the last hyphen is random: `a` must not match the folder of `a-b`.
        if left.rpartition("-")[0] == f"{_BESIDE}{name}":
            shutil.rmtree(os.path.join(into, left), ignore_errors=True)
    if not is_stopped(into, name):
        return None
    old, _, new = (written_digest(aside) or "").partition(" ")
    entry = None if lock is None else lock.read().in_folder(name)
    if not os.path.lexists(target) and (new or entry is not None or lock is None):
        return give_back(into, name)
    is_done = not os.path.lexists(target)
    if os.path.isdir(target) and not os.path.islink(target):
        there = manifest_of(target, LIMITS)
        if Installed.by(entry).is_at(there, target):
            note_installed(target, there)
            is_done = True
        elif there.digest == new:
            disposable = beside_of(into, name)
            rename_folder(target, disposable)
            give_back(into, name)
            return shutil.rmtree(disposable, ignore_errors=True)
    if os.listdir(aside) and not (is_done and manifest_of(aside, LIMITS).digest == old):
        move_to_backup(aside, into, name)
        return forget_written(aside)
    return discard(into, name)


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
