"""Reading a log back: its last entries, and how many of its lines are none."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from skillyard.errors import InvalidInput
from skillyard.io.files import read_last_lines

__all__ = ["Shown", "read_log"]

MOST_READ = 64 * 1024 * 1024
"""Bytes of one file that are looked at: the last ones."""
SCHEMAS = ("skillyard.decision/", "skillyard.hook-event/")


class Shown(NamedTuple):
    """The last entries of a log."""

    log: str
    entries: tuple[dict[str, Any], ...]
    """Oldest first, as they were written."""
    total: int
    """How many entries the log has, those before ``FILE`` became ``FILE.1`` included."""
    unreadable: int
    """Lines that are no entry: half written, or somebody else's."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.log-show/1``."""
        return {
            "schema": "skillyard.log-show/1",
            "log": self.log,
            "entries": [dict(entry) for entry in self.entries],
            "total": self.total,
            "unreadable": self.unreadable,
        }


def read_log(path: str, limit: int) -> Shown:
    """Return the last ``limit`` entries of a log and of the file that it was before.

    Raises InvalidInput when there is no such file or it cannot be read.
    """
    entries: list[dict[str, Any]] = []
    unreadable = total = 0
    for file in (f"{path}.1", path):
        for line in _lines(file, optional=file != path):
            found = _entry(line)
            if found is None:
                unreadable += 1
                continue
            total += 1
            entries.append(found)
            if len(entries) > 2 * limit + 1_000:
                del entries[: len(entries) - limit]
    return Shown(path, tuple(entries[len(entries) - min(limit, len(entries)) :]), total, unreadable)


def _lines(path: str, *, optional: bool) -> list[bytes]:
    try:
        return read_last_lines(path, MOST_READ)
    except OSError as error:
        if optional:
            return []
        raise InvalidInput(f"cannot read {path}: {error.strerror}; check the path") from None


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not str(found.get("schema", "")).startswith(SCHEMAS):
        return None
    return found
