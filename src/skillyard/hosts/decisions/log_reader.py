"""Reads the entries of a log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.io.files import iter_last_lines

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
