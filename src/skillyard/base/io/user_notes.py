"""Short notes on folders of this machine, in the user's own records."""

from __future__ import annotations

import os
from contextlib import suppress

from skillyard.base.io.atomic_write import atomic_write
from skillyard.base.io.sha256 import sha256
from skillyard.base.io.user_folders import state_folder


def write_note(path: str, text: str) -> None:
    """Write a note, for the user alone; one that cannot be written is left out."""
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        atomic_write(path, text.encode("ascii"), mode=0o600)


def note_path(folder: str, kind: str) -> str:
    """Return where the note of a kind on a folder lies."""
    name = sha256(os.fsencode(os.path.normcase(real_place(folder)))).hex()[:32]
    return os.path.join(state_folder(), kind, name)


def real_place(folder: str) -> str:
    """Return the real path of a folder, of which the last part may be a link itself."""
    return os.path.join(os.path.realpath(os.path.dirname(folder) or "."), os.path.basename(folder))
