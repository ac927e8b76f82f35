"""JSON lines as ingest items: one object per line, plain or gzip, from a file or standard input."""

from __future__ import annotations

import json
import os
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from gzip import BadGzipFile, GzipFile
from io import BufferedReader
from typing import IO, Any, cast

from skillyard.base.errors import Diagnostic, InvalidInput, ResourceRefused
from skillyard.engine.resources import safe_parts
from skillyard.store.ingest.work_items import Item

MAX_LINE_BYTES = 16_777_216
"""Maximum bytes of a line: what a store accepts for one skill."""
_PIECE = 65_536
_GZIP = b"\x1f\x8b"


class Lines:
    """Files of JSON lines, read line by line. ``-`` is standard input.

    ``read`` and ``line_count`` count the bytes and the lines so far.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        """Raises InvalidInput for a file that cannot be opened."""
        self._paths = tuple(paths)
        if self._paths.count("-") > 1:
            raise InvalidInput("standard input can be read once")
        self.line_count = 0
        self.read = 0
        self._before = 0
        self._sizes = [_size(path) for path in self._paths]

    @property
    def total(self) -> int | None:
        """The number of lines, estimated from the bytes read; None when it cannot be estimated."""
        sizes = [size for size in self._sizes if size is not None]
        if len(sizes) < len(self._sizes) or (sizes and not self.read):
            return None
        return round(self.line_count * sum(sizes) / self.read) if sizes else 0

    def items(self, source: str) -> Iterator[Item | Diagnostic]:
        """Yield an item for each line, and a diagnostic for each invalid one."""
        for path, size in zip(self._paths, self._sizes, strict=True):
            if path == "-":
                stdin = getattr(sys.stdin, "buffer", None)
                if stdin is None:
                    raise InvalidInput("standard input is closed")
                yield from self._file(stdin, "standard input", source)
            else:
                with open(path, "rb") as file:
                    yield from self._file(file, path, source)
            self._before += size or 0
            self.read = self._before

    def _file(
        self, file: BufferedReader, display_path: str, source: str
    ) -> Iterator[Item | Diagnostic]:
        packed = file.peek(2)[:2] == _GZIP
        text = cast("IO[bytes]", GzipFile(fileobj=file) if packed else file)
        position = file.tell if file.seekable() else None
        number = 0
        try:
            for line in _lines(text):
                number += 1
                self.line_count += 1
                if position is not None:
                    self.read = self._before + position()
                if line is None:
                    yield _line_fault(
                        *(display_path, number, "line_too_long"),
                        f"the line is longer than {MAX_LINE_BYTES:,} bytes",
                        "split the skill, or publish its folder",
                    )
                elif line.strip():
                    yield _item(line, display_path, number, source)
        except (OSError, EOFError, BadGzipFile, zlib.error) as error:
            yield _line_fault(
                *(display_path, number + 1, "lines_unreadable"),
                f"the file cannot be read on ({error})",
                "write the file again; the lines before this one were read",
            )


def _size(path: str) -> int | None:
    if path == "-":
        return None
    try:
        status = os.stat(path)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}; check the path") from None
    if stat.S_ISDIR(status.st_mode) or not os.access(path, os.R_OK):
        raise InvalidInput(f"cannot read {path}: not a file that may be read; check the path")
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield the lines; None for one that is too long, which is never held in memory as a whole."""
    while line := file.readline(MAX_LINE_BYTES + 1):
        if len(line) <= MAX_LINE_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while (piece := file.readline(_PIECE)) and not piece.endswith(b"\n"):
            pass
        yield None


def _item(line: bytes, display_path: str, number: int, source: str) -> Item | Diagnostic:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return _line_fault(
            display_path, number, "line_not_utf8", f"byte {error.start} is not UTF-8", "write UTF-8"
        )
    except (ValueError, RecursionError) as error:
        return _line_fault(
            *(display_path, number, "line_not_json"),
            f"the line is not JSON ({error})",
            "write one JSON object on one line",
        )
    if not isinstance(record, dict):
        return _line_fault(
            *(display_path, number, "line_not_object"),
            "the line is JSON and no object",
            "write one JSON object on one line",
        )
    own_source = record.get("source")
    try:
        place = _place(record)
    except ResourceRefused as error:
        return _line_fault(
            display_path, number, "line_field", error.message, "give a relative path"
        )
    if own_source is not None and not isinstance(own_source, str):
        return _line_fault(
            display_path, number, "line_field", "source must be text", "write it as text"
        )
    return Item(display_path, number, own_source or source, place, len(line), record)


def _place(record: dict[str, Any]) -> str | None:
    """Return the place of the line's path; for a SKILL.md, its folder."""
    path = record.get("path")
    if path is None:
        return None
    parts = safe_parts(path)
    if parts[-1].lower() == "skill.md":
        parts = parts[:-1]
    return "/".join(parts) or None


def _line_fault(display_path: str, number: int, code: str, what: str, hint: str) -> Diagnostic:
    return Diagnostic(code, "error", display_path, what, hint, number)
