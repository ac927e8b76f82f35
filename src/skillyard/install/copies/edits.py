"""Which files of an installed folder were edited.

What skillyard writes to a folder is noted in the records of the user, file by file: the lock file
has one digest of all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from skillyard.base.errors import SkillIoError
from skillyard.base.io.folder_manifest import FileEntry, FolderManifest, is_litter
from skillyard.base.io.sha256 import sha256
from skillyard.base.shapes.installation import FileChange
from skillyard.engine.resources import read_file
from skillyard.install.copies.record import written_files

LINE_ENDS = "line ends"
"""The note of a file of which only the line ends differ."""
SHOWN = 5
"""Number of files that a message names."""
_WORDS = {"added": "added", "removed": "missing", "changed": ""}


class WrittenFile(NamedTuple):
    """A file as it was installed."""

    digest: str
    """SHA-256 in hexadecimal."""
    executable: bool | None
    """None where that is not known."""


def files_note(there: FolderManifest) -> str:
    """Return the note of the files of a folder."""
    files = {each.path: (each.digest, each.executable) for each in there.of_kind("file")}
    return json.dumps(files)


def recorded_edits(there: FolderManifest, target: str) -> list[FileChange]:
    """Return what was edited since skillyard wrote a folder; nothing where that is not known.

    Raises SkillIoError.
    """
    try:
        noted = json.loads(written_files(target) or "{}")
        files = {path: WrittenFile(*file) for path, file in noted.items()}
    except (ValueError, TypeError, AttributeError):
        return []
    return edits_of(there, target, files) if files else []


def edits_of(
    there: FolderManifest, target: str, written: Mapping[str, WrittenFile]
) -> list[FileChange]:
    """Return what differs in a folder from files that were written to it, by path.

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
    for path, file in written.items():
        entry = old.get(path)
        if entry is None:
            changes += [] if is_litter(path, "file", written) else [_change(path, "removed")]
        elif entry.digest != file.digest:
            is_line_ends = with_lf(entry, target).digest == file.digest
            changes.append(_change(path, "changed", LINE_ENDS if is_line_ends else ""))
        elif knows_modes and file.executable not in (None, entry.executable):
            now = "now executable" if entry.executable else "no longer executable"
            changes.append(_change(path, "changed", now))
    return sorted(changes, key=lambda change: change.path)


def added_edits(paths: Iterable[str]) -> list[FileChange]:
    """Return what was added to a folder."""
    return [_change(path, "added") for path in sorted(paths)]


def line_end_edits(there: FolderManifest, target: str) -> list[FileChange]:
    """Return the files of a folder with CR LF. Raises SkillIoError."""
    return [
        _change(entry.path, "changed", LINE_ENDS)
        for entry in there.without_litter().of_kind("file")
        if with_lf(entry, target) != entry
    ]


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
