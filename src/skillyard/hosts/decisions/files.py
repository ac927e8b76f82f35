"""Append-only log files: one line for each write, bounded in size, private to the user."""

from __future__ import annotations

import os
import time

from skillyard.base.io.files import append, open_to_append, replace_file

MAX_BYTES = 16 * 1024 * 1024
"""Size at which a file is renamed to ``FILE.1``, replacing the previous one."""
TRIES = 10
"""Attempts to open a file that other processes keep renaming."""


def append_line(path: str, line: str, max_bytes: int = MAX_BYTES) -> None:
    """Append one line with a single write, so that lines of several processes do not mix.

    The file is created with mode 0600 and its folder with 0700. Raises OSError.
    """
    data = line.encode("utf-8", "backslashreplace") + b"\n"
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    for _ in range(TRIES):
        descriptor = open_to_append(path, 0o600)
        try:
            if not _too_long(os.fstat(descriptor), len(data), max_bytes):
                append(descriptor, path, data)
                return
        finally:
            os.close(descriptor)
        _move_away(path, len(data), max_bytes)
    raise OSError(11, "other processes keep moving the file away", path)


def moment(now: float) -> str:
    """Return Unix seconds as an RFC 3339 time in UTC, with milliseconds."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    return f"{whole}.{int(now % 1 * 1000):03d}Z"


def _too_long(status: os.stat_result, more: int, max_bytes: int) -> bool:
    """Return True for a non-empty regular file that has no room for another line."""
    from stat import S_ISREG

    return S_ISREG(status.st_mode) and 0 < status.st_size > max_bytes - more


def _move_away(path: str, more: int, max_bytes: int) -> None:
    """Rename the file to ``FILE.1``, unless another process has done so already."""
    from skillyard.base.io.locks import file_lock

    with file_lock(f"{path}.lock", timeout_s=None):
        try:
            if _too_long(os.stat(path), more, max_bytes):
                replace_file(path, f"{path}.1")
        except FileNotFoundError:
            pass
