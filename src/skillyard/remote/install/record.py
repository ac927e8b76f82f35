"""What skillyard last wrote to a folder, and folders that were added, in the user's own records.

The lock file comes from version control and may be ahead of the folders on this machine. A folder
that still is what was written to it has no local changes, whatever the lock says now. A note that
is missing only means that the folder counts as edited.
"""

from __future__ import annotations

import os
from contextlib import suppress

from skillyard.discovery.hosts import folders_upwards
from skillyard.errors import SkillIoError
from skillyard.io.atomic_write import atomic_write
from skillyard.io.paths import is_below
from skillyard.io.sha256 import sha256
from skillyard.io.user_folders import state_folder
from skillyard.resources import read_file

__all__ = ["LINK", "forget_written", "may_read_source", "note_added_source"]
__all__ += ["note_written", "written_digest", "written_files"]

_MAX_BYTES = 8 << 20
LINK = "link"
"""Noted instead of a digest where a link was made."""


def note_written(folder: str, digest: str, files: str = "", *, durable: bool = False) -> None:
    """Note the digest of the files that were written to a folder, or of a journal.

    ``files`` is one line about each file. ``durable`` waits until the note would survive a power
    failure.
    """
    _note(_path(folder), f"{digest}\n{files}" if files else digest, durable=durable)


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


def note_added_source(folder: str) -> None:
    """Note that the user added a skill from a folder of this machine; links must be resolved."""
    _note(_path(folder, "sources"), "", durable=False)


def may_read_source(folder: str, project: str) -> bool:
    """True for a folder of the project's repository, and one that the user added a skill from.

    Links in ``folder`` must be resolved. Where the repository holds the home folder, as one of
    dotfiles does, or there is none, it must lie in the project itself.
    """
    home, project = os.path.realpath(os.path.expanduser("~")), os.path.realpath(project)
    above = [each for each in folders_upwards(project) if not is_below(f"{home}{os.sep}", each)]
    root = above[-1] if above else project
    return folder == root or is_below(folder, root) or os.path.isfile(_path(folder, "sources"))


def _note(path: str, text: str, *, durable: bool) -> None:
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        atomic_write(path, text.encode("ascii"), mode=0o600, durable=durable)


def _path(folder: str, kind: str = "installed") -> str:
    real = os.path.join(os.path.realpath(os.path.dirname(folder) or "."), os.path.basename(folder))
    name = sha256(os.fsencode(os.path.normcase(real))).hex()[:32]
    return os.path.join(state_folder(), kind, name)
