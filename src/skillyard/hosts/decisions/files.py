"""Log files: one line for each write, bounded in size, private to the user; and their entries."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.io.files import append, iter_last_lines, open_to_append, replace_file

FEEDBACK_FILE = "feedback.jsonl"
"""The file of the user's feedback, in the folder of the state."""
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


MAX_BYTES_READ = 64 * 1024 * 1024
"""Bytes that are read from the end of one file."""
MAX_LINE_BYTES = 1024 * 1024
"""A longer line is not an entry: the text of a request is cut at 32,768 characters."""
SCHEMAS = ("skillyard.decision/", "skillyard.hook-event/")


def iter_entries(path: str) -> Iterator[dict[str, Any] | None]:
    """Yield the entries of ``FILE.1``, then those of ``FILE``; None for a line that is not one.

    The fields of an entry are not checked, and only one line is in memory. Raises InvalidInput
    when ``FILE`` does not exist or cannot be read.
    """
    for file in (f"{path}.1", path):
        try:
            for line in iter_last_lines(file, MAX_BYTES_READ, max_line_bytes=MAX_LINE_BYTES):
                yield _entry(line)
        except OSError as error:
            if file == path:
                why = error.strerror or type(error).__name__
                raise InvalidInput(f"cannot read {path}: {why}; check the path") from None


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not str(record.get("schema", "")).startswith(SCHEMAS):
        return None
    return record
