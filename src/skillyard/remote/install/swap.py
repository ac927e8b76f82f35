"""Moves a folder into the place of another one, and back when somebody wrote to it meanwhile."""

from __future__ import annotations

import os
import shutil
import tempfile

from skillyard.errors import SkillIoError
from skillyard.io.files import is_open_for_writing, rename_folder, sync_folder
from skillyard.io.folder_manifest import Manifest, ManifestLimits, manifest_of
from skillyard.remote.install.folder_hash import MAX_BYTES, MAX_DEPTH, MAX_FILES
from skillyard.remote.install.refusal import InstallRefused

__all__ = [
    "ASIDE",
    "BESIDE",
    "LIMITS",
    "aside_of",
    "beside_in",
    "discard_aside",
    "is_still",
    "put",
    "put_back",
]

BESIDE = ".skillyard-new-"
"""Prefix of folders that are being written; the next run removes leftovers."""
ASIDE = ".skillyard-swap-"
"""Prefix of a folder that was moved aside, or that is about to be moved into place."""
LIMITS = ManifestLimits(MAX_FILES, MAX_BYTES, MAX_DEPTH)
"""The largest folder that is compared with what was installed."""
_HERE = -100
"""``AT_FDCWD``: paths are relative to the working folder."""
_EXCHANGE = 2
"""``RENAME_EXCHANGE``: the two names exchange their folders."""


def aside_of(into: str, name: str) -> str:
    """Return where the folder ``name`` in ``into`` lies while it is aside."""
    return os.path.join(into, f"{ASIDE}{name}")


def beside_in(into: str, name: str) -> str:
    """Create a folder beside ``name`` in ``into`` and return it. Raises OSError."""
    return tempfile.mkdtemp(prefix=f"{BESIDE}{name}-", dir=into)


def put(beside: str, into: str, name: str, there: Manifest | None, new: Manifest) -> None:
    """Move a folder into place and the existing one aside; restore that if it was changed.

    ``there`` is what the existing folder is expected to be, ``new`` what is in ``beside``. Raises
    OSError, and InstallRefused after the existing folder was restored.
    """
    target, aside = os.path.join(into, name), aside_of(into, name)
    if there is None:
        rename_folder(beside, target)
        sync_folder(into)
        return
    rename_folder(beside, aside)
    if not _exchanged(aside, target):
        rename_folder(aside, beside)
        rename_folder(target, aside)
        try:
            rename_folder(beside, target)
        except OSError:
            rename_folder(aside, target)
            raise
    sync_folder(into)
    if is_still(aside, there):
        return
    rescued = put_back(into, name, new)
    raise InstallRefused(
        "the folder was changed while it was replaced, and is as it was before"
        + (f"; what was written to the new one meanwhile is in {rescued}" if rescued else ""),
        path=target,
        code="install_edited",
        hint="keep your changes elsewhere or remove the folder, then add it again",
    )


def is_still(folder: str, there: Manifest) -> bool:
    """Return True when a folder is unchanged and nobody has a file in it open for writing."""
    paths = [os.path.join(folder, *entry.path.split("/")) for entry in there.of_kind("file")]
    if any(is_open_for_writing(path) for path in paths):
        return False
    try:
        return manifest_of(folder, LIMITS) == there
    except (OSError, SkillIoError):
        return False


def put_back(into: str, name: str, new: Manifest) -> str:
    """Restore the folder that was moved aside.

    ``new`` is what was written in its place; returns where that is now if somebody changed it.
    Raises OSError.
    """
    target, aside = os.path.join(into, name), aside_of(into, name)
    if os.path.lexists(target) and not _exchanged(aside, target):
        beside = beside_in(into, name)
        os.rmdir(beside)
        rename_folder(target, beside)
        rename_folder(aside, target)
        rename_folder(beside, aside)
    elif not os.path.lexists(target):
        rename_folder(aside, target)
    sync_folder(into)
    if not os.path.lexists(aside) or is_still(aside, new):
        discard_aside(into, name)
        return ""
    rescued = tempfile.mkdtemp(prefix=f"{name}-kept-", dir=into)
    os.rmdir(rescued)
    rename_folder(aside, rescued)
    return rescued


def _exchanged(one: str, other: str) -> bool:
    """Exchange two folders atomically. Returns False when the system or file system cannot."""
    try:
        import ctypes

        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (ImportError, AttributeError, OSError, TypeError):  # no ctypes, no such call, Windows
        return False
    result = call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)
    return bool(result == 0)


def discard_aside(into: str, name: str) -> None:
    """Rename the folder that is aside as disposable, then remove it."""
    aside = aside_of(into, name)
    if os.path.lexists(aside):
        needless = beside_in(into, name)
        os.rmdir(needless)
        rename_folder(aside, needless)
        shutil.rmtree(needless, ignore_errors=True)
