"""What skillyard last wrote to a folder, in the user's own records.

The lock file comes from version control and may be ahead of the folders on this machine. A folder
that still is what was written to it has no local changes, whatever the lock says now. A note that
is missing only means that the folder counts as edited. Where a skill has several folders, the note
on each names all: a run that is stopped between two notes leaves none unknown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress

from skillyard.base.errors import SkillIoError
from skillyard.base.io.user_notes import note_path, real_place, write_note
from skillyard.engine.resources import read_file

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


def written_files(folder: str) -> str:
    """Return what was noted about each file; empty when that is unknown."""
    return _noted(folder)[1]


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
