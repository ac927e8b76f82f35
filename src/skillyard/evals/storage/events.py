"""``events.jsonl``: the events of runs, one a line. Paid results are flushed to disk at once."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import IO, Any

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.io.files import append, open_to_append
from skillyard.base.io.locks import Closeable
from skillyard.evals.storage.entries import FOLDER_HINT, lock_between_processes

EVENTS = "events.jsonl"
START = "start"
"""The first event of a run, which holds its settings."""
_LINE_BYTES = 16_777_216
"""Longest line that is read."""


class Events(Closeable):
    """The events of one run. Safe for many threads; many processes may share the file."""

    def __init__(self, results: str, run_id: str) -> None:
        """Open the file. Raises SkillIoError."""
        self._results = results
        self._path = os.path.join(results, EVENTS)
        self._run_id = run_id
        self._guard = threading.Lock()
        try:
            os.makedirs(results, exist_ok=True)
            self._descriptor = open_to_append(self._path)
            self._file = open(self._path, "rb")  # noqa: SIM115 - close() closes it
            self._end_incomplete_line()
        except OSError as error:
            raise self._write_error(error) from None

    def append(self, event: str, *, wait: bool = True, **fields: Any) -> None:
        """Append one event and wait until it, and all before it, is on disk.

        ``wait=False`` leaves that to the system: for what a later run finds out again for free.
        Raises SkillIoError.
        """
        record = {"event": event, "run_id": self._run_id, **fields}
        line = (json.dumps(record, separators=(",", ":")) + "\n").encode("ascii")
        with self._guard:
            try:
                append(self._descriptor, self._path, line)
                if wait:
                    os.fsync(self._descriptor)
            except OSError as error:
                raise self._write_error(error) from None

    def unread(self) -> Iterator[dict[str, Any]]:
        """Yield the events of the run, of every process, since the last call."""
        for record in _records(self._file, self._run_id):
            if record.get("run_id") == self._run_id:
                yield record

    def exclusive(self) -> AbstractContextManager[object]:
        """Return a lock that one process of all in the folder has. Raises SkillIoError."""
        return lock_between_processes(self._results, "budget.lock")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        os.close(self._descriptor)

    def _end_incomplete_line(self) -> None:
        """Begin on a line of our own where a killed run left half of one."""
        if self._file.seek(0, os.SEEK_END):
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":
                append(self._descriptor, self._path, b"\n")
        self._file.seek(0)

    def _write_error(self, error: OSError) -> SkillIoError:
        message = f"cannot write the events: {error.strerror}"
        return SkillIoError(message, path=self._path, hint=FOLDER_HINT)


def _records(file: IO[bytes], word: str) -> Iterator[dict[str, Any]]:
    """Yield the events that have a word in them, from here to the last whole line of a file.

    A line that a run left damaged when it was killed is left out.
    """
    needle = json.dumps(word).encode()
    while True:
        start = file.tell()
        line = file.readline(_LINE_BYTES)
        if not line.endswith(b"\n") and len(line) < _LINE_BYTES:
            file.seek(start)  # the end, or a line that is being written
            return
        if needle in line:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict) and isinstance(record.get("event"), str):
                yield record


def start_of_run(results: str, eval_type: str, run_id: str | None = None) -> dict[str, Any]:
    """Return the first event of a run: its ``settings``, and the ``dataset_sha256`` of its cases.

    Without ``run_id``, the run of the type that began last is meant. Raises InvalidInput when the
    results folder knows no such run, and SkillIoError.
    """
    path = os.path.join(results, EVENTS)
    try:
        with open(path, "rb") as file:
            records = [each for each in _records(file, START) if each["event"] == START]
    except FileNotFoundError:
        records = []
    except OSError as error:
        message = f"cannot read the events: {error.strerror}"
        raise SkillIoError(message, path=path, hint="check the file") from None
    starts = [each for each in records if isinstance(each.get("settings"), dict)]
    if run_id is None:
        of_type = [each for each in starts if each["settings"].get("eval_type") == eval_type]
        if of_type:
            return of_type[-1]
        raise InvalidInput(f"nothing to replay: no run of {eval_type} was begun in {results}")
    for each in starts:
        if each.get("run_id") == run_id:
            return each
    latest = f"the latest one is {starts[-1].get('run_id')}" if starts else "there is none"
    raise InvalidInput(f"no run {run_id!r} in {path}; {latest}")
