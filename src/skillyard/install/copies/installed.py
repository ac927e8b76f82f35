"""Compares a folder with what was installed in it: by the lock, and by the user's own records.

The lock file comes from version control and may be ahead of the folders on this machine. A folder
that still is what skillyard wrote to it has no local changes, whatever the lock says now. What is
written is noted in the records of the user, file by file. A note that is missing only means that
the folder counts as edited. Where a skill has several folders, the note on each names all: a run
that is stopped between two notes leaves none unknown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from skillyard.base.configuration import note_path, real_place, write_note
from skillyard.base.errors import SkillError, SkillIoError
from skillyard.base.io.files import sha256
from skillyard.base.io.folder_manifest import (
    FileEntry,
    FolderManifest,
    ManifestLimits,
    is_litter,
    manifest_of,
)
from skillyard.base.shapes.installation import FileChange
from skillyard.engine.resources import read_file
from skillyard.install.copies.folder_hash import (
    FOLDERS_LEFT_OUT,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_FILES,
    is_folder_hash_of,
    is_tree_hash,
    is_tree_of,
)
from skillyard.install.copies.lockfile import LockedSkill

LIMITS = ManifestLimits(MAX_FILES, MAX_BYTES, MAX_DEPTH)
"""The largest folder that is compared with what was installed."""


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

        What Python and file managers left there is no part of it, and git may write CR LF.
        """
        return self.has_modes(there) and not self.added(there) and self._has_files(there, target)

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

    def edits(self, there: FolderManifest, target: str) -> tuple[list[FileChange], str]:
        """Return what differs in the folder, as far as it is known, and that as a message.

        Raises SkillIoError.
        """
        written = written_files(target) if self != NOTHING else {}
        files = edits_since(there, target, written) if written else []
        files = files or added_edits(self.added(there))
        message = "" if files or self.has_modes(there) else "other files may be executed"
        return files, shown_edits(files) or message

    def _has_files(self, there: FolderManifest, target: str) -> bool:
        tidy = there.without_litter()
        # A source may hold such files, too.
        if self._has(tidy, target) or (tidy != there and self._has(there, target)):
            return True
        if self.digest is None:
            return False
        files = (with_lf(entry, target) for entry in tidy.entries)
        return FolderManifest(tuple(files)).files_digest() == self.digest

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
    files = {each.path: (each.digest, each.executable) for each in tidy.of_kind("file")}
    note_written(target, " ".join(filter(None, digests)), json.dumps(files), places=places)


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

    Where nothing was installed by the lock, what was written once may be somebody else's now.
    """
    if installed.is_at(there, target) or (installed != NOTHING and is_as_written(there, target)):
        return
    named = installed.edits(there, target)[1]
    raise InstallRefused(
        f"the folder holds something else than what was installed{named and ': '}{named}",
        path=target,
        code="install_edited",
        hint="keep your changes elsewhere or remove the folder, then add it again",
    )


class InstallRefused(SkillError):
    """Raised instead of overwriting local changes, and for files that are not a skill."""

    kind = "InstallRefused"


_MAX_BYTES = 8 << 20
LINK = "link"
"""Noted instead of a digest where a link was made."""


def note_written(folder: str, digest: str, files: str = "", *, places: Iterable[str] = ()) -> None:
    """Note the digest of the files that were written to a folder.

    ``files`` is one line about the files, ``places`` are all folders of the skill.
    """
    listed = json.dumps(sorted(map(real_place, places)))
    write_note(_path(folder), f"{digest}\n{files}\n{listed}" if files else digest)


def written_digest(folder: str) -> str | None:
    """Return the digest of the files that were last written to a folder, None when unknown."""
    return _noted(folder)[0] or None


def written_files(folder: str) -> dict[str, tuple[str, bool | None]]:
    """Return the digest of each file, and whether it is executable; nothing when unknown."""
    try:
        noted = json.loads(_noted(folder)[1] or "{}")
        return {path: (digest, executable) for path, (digest, executable) in noted.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def places_written(folders: Iterable[str]) -> set[str]:
    """Return those of some folders of one skill that were written, by a note on any of them."""
    real = {folder: real_place(folder) for folder in folders}
    noted = {folder: _noted(folder) for folder in real}
    listed = {place for _, _, places in noted.values() for place in places}
    return {folder for folder in real if noted[folder][0] or real[folder] in listed}


def _noted(folder: str) -> tuple[str, str, list[str]]:
    try:
        text = read_file(_path(folder), _MAX_BYTES).data.decode("ascii")
        digest, files, places = [*text.split("\n"), "", ""][:3]
        return digest, files, json.loads(places or "[]")
    except (SkillIoError, ValueError):
        return "", "", []


def forget_written(folder: str) -> None:
    """Forget a folder that was removed."""
    with suppress(OSError):
        os.unlink(_path(folder))


def _path(folder: str) -> str:
    return note_path(folder, "installed")


SHOWN = 5
"""Number of files that a message names."""
_WORDS = {"added": "added", "removed": "missing", "changed": ""}


def edits_since(
    there: FolderManifest, target: str, written: Mapping[str, tuple[str, bool | None]]
) -> list[FileChange]:
    """Return what differs from files that were written to a folder.

    ``written`` has their digests, and whether they are executable, None where that is not known.
    Raises SkillIoError.
    """
    there = there.without_litter()
    old = {entry.path: entry for entry in there.of_kind("file")}
    knows_modes = there.executable_digest() is not None
    beside = [  # a folder that lost its files was not added
        path
        for path in there.beside_files()
        if not any(each.startswith(f"{path}/") for each in written)
    ]
    changes = added_edits({*beside, *(old.keys() - written.keys())})
    for path, (digest, executable) in written.items():
        entry = old.get(path)
        if entry is None:
            changes += [] if is_litter(path, "file", written) else [_change(path, "removed")]
        elif digest not in (entry.digest, with_lf(entry, target).digest):
            changes.append(_change(path, "changed"))
        elif knows_modes and executable not in (None, entry.executable):
            now = "now executable" if entry.executable else "no longer executable"
            changes.append(_change(path, "changed", now))
    return sorted(changes, key=lambda change: change.path)


def added_edits(paths: Iterable[str]) -> list[FileChange]:
    """Return what was added to a folder."""
    return [_change(path, "added") for path in sorted(paths)]


def shown_edits(changes: Collection[FileChange]) -> str:
    """Return the first of some edits, as a message names them."""
    listed = []
    for each in list(changes)[:SHOWN]:
        note = each.note or _WORDS[each.change]
        listed.append(ascii(each.path) + (f" ({note})" if note else ""))
    more = f" and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
    return ", ".join(listed) + more


def with_lf(entry: FileEntry, target: str) -> FileEntry:
    """Return a text file with CR LF as it was with LF, anything else as it is."""
    if entry.kind != "file":
        return entry
    try:
        data = read_file(os.path.join(target, *entry.path.split("/")), entry.size).data
    except SkillIoError:  # somebody writes to it: an edit
        return entry
    if b"\0" in data or b"\r\n" not in data:
        return entry
    data = data.replace(b"\r\n", b"\n")
    return entry._replace(size=len(data), digest=sha256(data).hex())


def _change(path: str, change: str, note: str = "") -> FileChange:
    return FileChange(path=path, change=change, diff="", note=note)
