"""``events.jsonl``: the events of runs, one a line. Paid results are flushed to disk at once."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.io.files import append, open_to_append
from skillyard.evals.storage.files import FOLDER_HINT

EVENTS = "events.jsonl"
START = "start"
"""The first event of a run, which holds its settings."""
LINE_BYTES = 16_777_216
"""Longest line that is read."""


class Events:
    """Appends events of one run. Safe for many threads; many processes may share the file."""

    def __init__(self, results: str, run_id: str) -> None:
        """Open the file. Raises SkillIoError."""
        self.path = os.path.join(results, EVENTS)
        self._run_id = run_id
        self._guard = threading.Lock()
        try:
            os.makedirs(results, exist_ok=True)
            self._descriptor = open_to_append(self.path, readable=True)
            self._end_incomplete_line()
        except OSError as error:
            raise _write_error(self.path, error) from None

    def append(self, event: str, *, wait: bool = True, **fields: Any) -> None:
        """Append one event and wait until it, and all before it, is on disk.

        ``wait=False`` leaves that to the system: for what a later run finds out again for free.
        Raises SkillIoError.
        """
        record = {"event": event, "run_id": self._run_id, **fields}
        line = (json.dumps(record, separators=(",", ":")) + "\n").encode("ascii")
        with self._guard:
            try:
                append(self._descriptor, self.path, line)
                if wait:
                    os.fsync(self._descriptor)
            except OSError as error:
                raise _write_error(self.path, error) from None

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _end_incomplete_line(self) -> None:
        """Begin on a line of our own where a killed run left half of one."""
        size = os.fstat(self._descriptor).st_size
        if not size:
            return
        os.lseek(self._descriptor, size - 1, os.SEEK_SET)
        if os.read(self._descriptor, 1) != b"\n":
            append(self._descriptor, self.path, b"\n")


def read_events(
    results: str, warn: Callable[[str], None] = lambda text: None, *, only: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the events of a results folder, oldest first. A damaged line is reported and left out.

    ``only`` names the kind of events to return; other lines are then not parsed.
    """
    needle = None if only is None else json.dumps(only).encode()
    path = os.path.join(results, EVENTS)
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below; a missing file is no error
    except FileNotFoundError:
        return
    except OSError as error:
        raise SkillIoError(
            f"cannot read the events: {error.strerror}", path=path, hint="check the file"
        ) from None
    with file:
        number = 0
        while line := file.readline(LINE_BYTES + 1):
            number += 1
            if not line.strip() or (needle is not None and needle not in line):
                continue
            try:
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError
            except (ValueError, RecursionError):
                warn(f"{path}:{number}: not an event, left out (a run was killed as it wrote)")
                continue
            if only is None or record.get("event") == only:
                yield record


def start_of_run(results: str, run_id: str) -> dict[str, Any]:
    """Return the first event of a run: its ``settings``, and the ``dataset_sha256`` of its cases.

    Raises InvalidInput when the results folder knows no such run, and SkillIoError.
    """
    starts = _starts(results)
    for record in starts:
        if record.get("run_id") == run_id:
            return record
    latest = f"the latest one is {starts[-1].get('run_id')}" if starts else "there is none"
    raise InvalidInput(f"no run {run_id!r} in {os.path.join(results, EVENTS)}; {latest}")


def start_of_latest_run(results: str, eval_type: str) -> dict[str, Any]:
    """Return the first event of the run of a type that began last.

    Raises InvalidInput when the results folder knows no such run, and SkillIoError.
    """
    for record in _starts(results)[::-1]:
        if record["settings"].get("eval_type") == eval_type:
            return record
    raise InvalidInput(f"nothing to replay: no run of {eval_type} was begun in {results}")


def _starts(results: str) -> list[dict[str, Any]]:
    """Return the first events of runs, oldest first."""
    starts = read_events(results, only=START)
    return [record for record in starts if isinstance(record.get("settings"), dict)]


def _write_error(path: str, error: OSError) -> SkillIoError:
    message = f"cannot write the events: {error.strerror}"
    return SkillIoError(message, path=path, hint=FOLDER_HINT)
