"""Reads the last entries of a log."""

from __future__ import annotations

import json
from typing import Any

from skillyard.errors import InvalidInput
from skillyard.io.files import read_last_lines
from skillyard.shapes.logs import LogTail

__all__ = ["read_log"]

MAX_BYTES_READ = 64 * 1024 * 1024
"""Bytes that are read from the end of one file."""
SCHEMAS = ("skillyard.decision/", "skillyard.hook-event/")


def read_log(path: str, limit: int) -> LogTail:
    """Return the last ``limit`` entries of ``FILE.1`` and ``FILE`` together.

    Raises InvalidInput when the file does not exist or cannot be read.
    """
    entries: list[dict[str, Any]] = []
    unreadable = total = 0
    for file in (f"{path}.1", path):
        for line in _lines(file, optional=file != path):
            record = _entry(line)
            if record is None:
                unreadable += 1
                continue
            total += 1
            entries.append(record)
            if len(entries) > 2 * limit + 1_000:
                del entries[: len(entries) - limit]
    last = tuple(entries[len(entries) - min(limit, len(entries)) :])
    return LogTail(log=path, entries=last, total=total, unreadable=unreadable)


def _lines(path: str, *, optional: bool) -> list[bytes]:
    try:
        return read_last_lines(path, MAX_BYTES_READ)
    except OSError as error:
        if optional:
            return []
        raise InvalidInput(f"cannot read {path}: {error.strerror}; check the path") from None


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not str(record.get("schema", "")).startswith(SCHEMAS):
        return None
    return record
