"""What skillyard last wrote to a folder, in the user's own records.

The lock file comes from version control and may be ahead of the folders on this machine. A folder
that still is what was written to it has no local changes, whatever the lock says now. A note that
is missing only means that the folder counts as edited.
"""

from __future__ import annotations

import os
from contextlib import suppress

from skillyard.errors import SkillIoError
from skillyard.io.user_notes import note_path, write_note
from skillyard.resources import read_file

__all__ = ["LINK", "forget_written", "note_written", "written_digest", "written_files"]

_MAX_BYTES = 8 << 20
LINK = "link"
"""Noted instead of a digest where a link was made."""


def note_written(folder: str, digest: str, files: str = "", *, durable: bool = False) -> None:
    """Note the digest of the files that were written to a folder, or of a journal.

    ``files`` is one line about each file. ``durable`` waits until the note would survive a power
    failure.
    """
    write_note(_path(folder), f"{digest}\n{files}" if files else digest, durable=durable)


def written_digest(folder: str) -> str | None:
    """Return the digest of the files that were last written to a folder, None when unknown."""
    return _noted(folder)[0] or None


def written_files(folder: str) -> str:
    """Return what was noted about each file; empty when that is unknown."""
    return _noted(folder)[1]


def _noted(folder: str) -> tuple[str, str]:
    try:
        text = read_file(_path(folder), _MAX_BYTES).data.decode("ascii")
    except (SkillIoError, UnicodeDecodeError):
        text = ""
    digest, _, files = text.partition("\n")
    return digest, files


def forget_written(folder: str) -> None:
    """Forget a folder that was removed."""
    with suppress(OSError):
        os.unlink(_path(folder))


def _path(folder: str) -> str:
    return note_path(folder, "installed")
