"""Files that only grow: one line for each write, bounded, private to the user."""

from __future__ import annotations

import os

__all__ = ["MOST_BYTES", "append_line", "state_folder"]

MOST_BYTES = 16 * 1024 * 1024
"""Size at which a file becomes ``FILE.1``, in the place of the one before: twice this is kept."""
TRIES = 10
"""Openings of a file that other processes move away meanwhile."""


def state_folder() -> str:
    """Return the folder for what must outlive a cache: ``SKILLYARD_STATE``, else the user's own.

    That is ``skillyard`` in ``XDG_STATE_HOME``, else in ``~/.local/state``.
    """
    own = os.environ.get("SKILLYARD_STATE")
    if own:
        return own
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "skillyard")


def append_line(path: str, line: str, most_bytes: int = MOST_BYTES) -> None:
    """Append one line with one write, so that lines of several processes never mix.

    The file is made with mode 0600, its folder with 0700. Raises OSError.
    """
    data = line.encode("utf-8", "backslashreplace") + b"\n"
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    for _ in range(TRIES):
        descriptor = os.open(path, _FLAGS, 0o600)
        try:
            if not _too_long(descriptor, len(data), most_bytes):
                written = os.write(descriptor, data)
                if written != len(data):
                    raise OSError(28, "no room for a whole line", path)
                return
            _move_away(descriptor, path)
        finally:
            os.close(descriptor)
    raise OSError(11, "other processes keep moving the file away", path)


# A pipe that nobody reads must not hold anybody up.
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK


def _too_long(descriptor: int, more: int, most_bytes: int) -> bool:
    """Return True for a file, not a pipe or a device, that has lines and no room for another."""
    from stat import S_ISREG

    status = os.fstat(descriptor)
    return S_ISREG(status.st_mode) and 0 < status.st_size > most_bytes - more


def _move_away(descriptor: int, path: str) -> None:
    """Rename the file to ``FILE.1``, unless another process has just done so."""
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX)
    ours = os.fstat(descriptor)
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return
    if (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino):
        os.replace(path, f"{path}.1")
