"""Log files: one line for each write, bounded in size, private to the user; and their entries."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any

from skillyard.base.configuration import FEEDBACK_FILE, state_folder
from skillyard.base.errors import InvalidInput
from skillyard.base.io.files import append, iter_last_lines, open_to_append, replace_file
from skillyard.base.io.locks import file_lock

MAX_BYTES = 16 * 1024 * 1024
"""Size at which a file is renamed to ``FILE.1``, replacing the previous one."""


def feedback_path() -> str:
    """Return the path of the user's feedback, which need not exist."""
    return os.path.join(state_folder(), FEEDBACK_FILE)


def append_line(path: str, line: str, max_bytes: int = MAX_BYTES) -> None:
    """Append one line with a single write, so that lines of several processes do not mix.

    The file is created with mode 0600 and its folder with 0700. Raises OSError.
    """
    data = line.encode("utf-8", "backslashreplace") + b"\n"
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    if _is_full(path, len(data), max_bytes):
        with file_lock(f"{path}.lock", timeout_s=None):
            if _is_full(path, len(data), max_bytes):  # no other process has moved it meanwhile
                replace_file(path, f"{path}.1")
    descriptor = open_to_append(path, 0o600)
    try:
        append(descriptor, path, data)
    finally:
        os.close(descriptor)


def _is_full(path: str, more: int, max_bytes: int) -> bool:
    try:
        size = os.stat(path).st_size
    except FileNotFoundError:
        return False
    return size > 0 and size + more > max_bytes


def moment(now: float) -> str:
    """Return Unix seconds as an RFC 3339 time in UTC, with milliseconds."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    return f"{whole}.{int(now % 1 * 1000):03d}Z"


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
            for line in iter_last_lines(file, MAX_BYTES_READ, MAX_LINE_BYTES):
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
