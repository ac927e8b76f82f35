"""Compares a folder with what was installed in it."""

from __future__ import annotations

import os
from typing import NamedTuple

from skillyard.io.folder_manifest import Manifest, manifest_of
from skillyard.remote.install.folder_hash import (
    FOLDERS_LEFT_OUT,
    folder_hash_of,
    is_tree_hash,
    is_tree_of,
)
from skillyard.remote.install.lock_entries import LockedSkill
from skillyard.remote.install.record import note_written, written_digest
from skillyard.remote.install.refusal import InstallRefused
from skillyard.remote.install.swap import LIMITS

__all__ = ["NOTHING", "OTHER_MODES", "Installed", "check_installed", "is_as_written"]
__all__ += ["manifest_at", "note_installed"]

OTHER_MODES = "other files may be executed"
SHOWN = 3
"""Number of entries that an error names."""


class Installed(NamedTuple):
    """What a folder must hold to be what was installed."""

    hash: str | None = None
    """The folder hash or the tree hash, as in lock files."""
    digest: str | None = None
    """The digest of the content; where there is one, the hash is not compared."""
    executable: str | None = None
    """The digest of which files may be executed; None where that is not known."""

    @classmethod
    def by(cls, entry: LockedSkill | None) -> Installed:
        """Return what an entry of the lock installed; None installed nothing."""
        if entry is None:
            return cls()
        return cls(entry.content_hash, entry.digest, entry.executable_digest)

    def is_at(self, there: Manifest, target: str) -> bool:
        """True when the folder is exactly that, links and empty folders included."""
        same, added = self._compare(there, target)
        return same and not added and self.has_modes(there)

    def has_modes(self, there: Manifest) -> bool:
        """True when those files may be executed that were installed so, as far as it is known."""
        return self.executable is None or there.executable_digest() in (None, self.executable)

    def _compare(self, there: Manifest, target: str) -> tuple[bool, list[str]]:
        """Return whether the files are the same, and what else is there.

        The installer's folder hash omits some entries, which then count as not installed.
        """
        added = there.beside_files()
        if self.digest is not None:
            return there.files_digest() == self.digest, added
        files = [entry.path for entry in there.of_kind("file")]
        added += [path for path in files if FOLDERS_LEFT_OUT & set(path.split("/")[:-1])]
        if self.hash is None:
            return False, added
        if is_tree_hash(self.hash):
            return is_tree_of(self.hash, target, there), added
        return folder_hash_of(target) == self.hash, added


NOTHING = Installed()
"""What no folder holds: nothing was installed."""


def is_as_written(there: Manifest, target: str) -> bool:
    """True when a folder is exactly what skillyard last wrote to it."""
    digest, _, executable = (written_digest(target) or "").partition(" ")
    written = Installed(digest=digest, executable=executable or None)
    return bool(digest) and written.is_at(there, target)


def note_installed(target: str, digest: str, executable: str | None) -> None:
    """Note the digests of what was written to a folder: of the content, and of executable files."""
    note_written(target, f"{digest} {executable}" if executable else digest)


def manifest_at(target: str) -> Manifest | None:
    """Return the manifest of a folder; None when there is none.

    Raises InstallRefused for a link or a file in its place, SkillIoError, OSError.
    """
    if os.path.islink(target):
        raise InstallRefused(
            "the place is a link",
            path=target,
            code="install_link",
            hint="remove the link, or name another folder with --into",
        )
    if not os.path.lexists(target):
        return None
    if not os.path.isdir(target):
        raise InstallRefused("a file is in the place", path=target, code="install_file")
    return manifest_of(target, LIMITS)


def check_installed(there: Manifest, target: str, installed: Installed) -> None:
    """Raise InstallRefused unless every entry of the folder is as installed, or as last written.

    Where nothing was installed by the lock, what was written once may be somebody else's now.
    """
    if installed.is_at(there, target) or (installed != NOTHING and is_as_written(there, target)):
        return
    _, added = installed._compare(there, target)
    named = ", ".join(ascii(path) for path in sorted(added)[:SHOWN])
    if named:
        more = f" and {len(added) - SHOWN} more" if len(added) > SHOWN else ""
        named = f": {named}{more}"
    elif not installed.has_modes(there):
        named = f": {OTHER_MODES}"
    raise InstallRefused(
        f"the folder holds something else than what was installed{named}",
        path=target,
        code="install_edited",
        hint="keep your changes elsewhere or remove the folder, then add it again",
    )
