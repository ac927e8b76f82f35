"""Compares a folder with what was installed in it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from skillyard.base.errors import SkillError, SkillIoError
from skillyard.base.io.folder_manifest import FolderManifest, ManifestLimits, manifest_of
from skillyard.install.copies.edits import (
    SHOWN,
    files_note,
    recorded_edits,
    shown_edits,
    with_lf,
)
from skillyard.install.copies.folder_hash import (
    FOLDERS_LEFT_OUT,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_FILES,
    is_folder_hash_of,
    is_tree_hash,
    is_tree_of,
)
from skillyard.install.copies.lock_entries import LockedSkill
from skillyard.install.copies.record import note_written, written_digest

LIMITS = ManifestLimits(MAX_FILES, MAX_BYTES, MAX_DEPTH)
"""The largest folder that is compared with what was installed."""
OTHER_MODES = "other files may be executed"


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

    def is_at(self, there: FolderManifest, target: str) -> bool:
        """True when the folder is exactly that, links and empty folders included.

        What Python and file managers left there is no part of it.
        """
        return self.has_modes(there) and not self.added(there) and self._has_files(there, target)

    def is_with_line_ends(self, there: FolderManifest, target: str) -> bool:
        """True when the folder is that, but for line ends that became CR LF.

        Raises SkillIoError.
        """
        files = [with_lf(entry, target) for entry in there.without_litter().entries]
        return self.digest is not None and self.is_at(FolderManifest(tuple(files)), target)

    def has_modes(self, there: FolderManifest) -> bool:
        """True when those files may be executed that were installed so, as far as it is known."""
        return self.executable is None or there.executable_digest() in (None, self.executable)

    def added(self, there: FolderManifest) -> list[str]:
        """Return what cannot have been installed.

        The installer's folder hash omits some files, which then count as such.
        """
        there = there.without_litter()
        added = there.beside_files()
        if self.digest is None:
            files = [entry.path for entry in there.of_kind("file")]
            added += [path for path in files if FOLDERS_LEFT_OUT & set(path.split("/")[:-1])]
        return added

    def _has_files(self, there: FolderManifest, target: str) -> bool:
        # A source may hold such files, too.
        return any(self._has(each, target) for each in {there.without_litter(), there})

    def _has(self, there: FolderManifest, target: str) -> bool:
        if self.digest is not None:
            return there.files_digest() == self.digest
        if self.hash is None:
            return False
        compare = is_tree_of if is_tree_hash(self.hash) else is_folder_hash_of
        try:
            return compare(self.hash, target, there)
        except SkillIoError:  # somebody writes to it: an edit
            return False


NOTHING = Installed()
"""What no folder holds: nothing was installed."""


def is_as_written(there: FolderManifest, target: str) -> bool:
    """True when a folder is exactly what skillyard last wrote to it."""
    digest, _, executable = (written_digest(target) or "").partition(" ")
    written = Installed(digest=digest, executable=executable or None)
    return bool(digest) and written.is_at(there, target)


def note_installed(
    target: str, there: FolderManifest, digest: str = "", *, places: Iterable[str] = ()
) -> None:
    """Note what was written to a folder: digests of content and of executable files, each file.

    ``digest`` is that of the content, where other files may lie there, too. ``places`` are all
    folders of the skill.
    """
    tidy = there.without_litter()
    digests = (digest or tidy.files_digest(), there.executable_digest())
    note_written(target, " ".join(filter(None, digests)), files_note(tidy), places=places)


def manifest_at(target: str) -> FolderManifest | None:
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


def check_installed(there: FolderManifest, target: str, installed: Installed) -> None:
    """Raise InstallRefused unless every entry of the folder is as installed, or as last written.

    Line ends may differ. Where nothing was installed by the lock, what was written once may be
    somebody else's now.
    """
    if installed.is_at(there, target) or (
        installed != NOTHING
        and (is_as_written(there, target) or installed.is_with_line_ends(there, target))
    ):
        return
    edits = shown_edits(recorded_edits(there, target)) if installed != NOTHING else ""
    named = edits or ", ".join(ascii(path) for path in sorted(installed.added(there))[:SHOWN])
    if not named and not installed.has_modes(there):
        named = OTHER_MODES
    raise InstallRefused(
        f"the folder holds something else than what was installed{named and ': '}{named}",
        path=target,
        code="install_edited",
        hint="keep your changes elsewhere or remove the folder, then add it again",
    )


class InstallRefused(SkillError):
    """Raised instead of overwriting local changes, and for files that are not a skill."""

    kind = "InstallRefused"
