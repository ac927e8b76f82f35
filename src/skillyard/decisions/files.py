"""Files that only grow: one line for each write, bounded, private to the user."""

from __future__ import annotations

import os

from skillyard.io.files import append, open_to_append, replace_file
from skillyard.io.user_folders import state_folder

__all__ = ["MOST_BYTES", "append_line", "state_folder"]

MOST_BYTES = 16 * 1024 * 1024
"""Size at which a file becomes ``FILE.1``, in the place of the one before: twice this is kept."""
TRIES = 10
"""Openings of a file that other processes move away meanwhile."""


def append_line(path: str, line: str, most_bytes: int = MOST_BYTES) -> None:
    """Append one line with one write, so that lines of several processes never mix.

    The file is made with mode 0600, its folder with 0700. Raises OSError.
    """
    data = line.encode("utf-8", "backslashreplace") + b"\n"
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    for _ in range(TRIES):
        descriptor = open_to_append(path, 0o600)
        try:
            if not _too_long(os.fstat(descriptor), len(data), most_bytes):
                append(descriptor, path, data)
                return
        finally:
            os.close(descriptor)
        _move_away(path, len(data), most_bytes)
    raise OSError(11, "other processes keep moving the file away", path)


def _too_long(status: os.stat_result, more: int, most_bytes: int) -> bool:
    """Return True for a file, not a pipe or a device, that has lines and no room for another."""
    from stat import S_ISREG

    return S_ISREG(status.st_mode) and 0 < status.st_size > most_bytes - more


def _move_away(path: str, more: int, most_bytes: int) -> None:
    """Rename the file to ``FILE.1``, unless another process has just done so."""
    from skillyard.io.locks import file_lock

    with file_lock(f"{path}.lock", timeout_s=None):
        try:
            if _too_long(os.stat(path), more, most_bytes):
                replace_file(path, f"{path}.1")
        except FileNotFoundError:
            pass
