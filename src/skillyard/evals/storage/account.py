"""The account of one run id in ``events.jsonl``, shared by all processes that work on the run.

A call writes ``reserved`` with its worst case before it is sent, and ``settled`` with its cost
afterwards. A process that is killed leaves reservations open. They stay counted, because the
provider may have billed the calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from skillyard.evals.models.ledger import UNITS, Account
from skillyard.evals.storage.entries import is_amount, lock_between_processes
from skillyard.evals.storage.events import LINE_BYTES, Events

RESERVED = "reserved"
SETTLED = "settled"
_LOCK = "budget.lock"


class RunAccount(Account):
    """The account of a run, read from its events and written to them."""

    def __init__(self, results: str, run_id: str) -> None:
        """Open the events. Raises SkillIoError."""
        super().__init__()
        self._results = results
        self._run_id = run_id
        self._events = Events(results, run_id)
        self._file = open(self._events.path, "rb")  # noqa: SIM115 - close() closes it
        self._known: set[str] = set()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._events.close()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other processes from reserving, and read what they have done.

        Raises SkillIoError.
        """
        with lock_between_processes(self._results, _LOCK):
            self._read_new_events()
            yield

    def reserve(self, call: str, amount: int) -> None:
        """Write a reservation and wait until it is on disk. Raises SkillIoError."""
        self._events.append(RESERVED, call=call, cost=amount / UNITS)
        self._known.add(call)
        super().reserve(call, amount)

    def settle(self, call: str, amount: int, *, lost: bool) -> None:
        """Write what a call cost. Raises SkillIoError.

        It is not waited for: if the machine stops, the reservation counts.
        """
        super().settle(call, amount, lost=lost)
        self._events.append(SETTLED, wait=False, call=call, cost=amount / UNITS, lost=lost)

    def _read_new_events(self) -> None:
        needle = json.dumps(self._run_id).encode()
        while True:
            start = self._file.tell()
            line = self._file.readline(LINE_BYTES)
            if not line.endswith(b"\n") and len(line) < LINE_BYTES:
                self._file.seek(start)  # the end, or a line that is being written
                return
            if needle in line and b'"call"' in line:
                self._apply(line)

    def _apply(self, line: bytes) -> None:
        """Count the event of another process. A damaged line is left out."""
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(record, dict) or record.get("run_id") != self._run_id:
            return
        call: Any = record.get("call")
        cost: Any = record.get("cost")
        if not isinstance(call, str) or not is_amount(cost):
            return
        amount = round(cost * UNITS)
        if record.get("event") == RESERVED and call not in self._known:
            self._known.add(call)
            super().reserve(call, amount)
        elif record.get("event") == SETTLED and call in self.reserved:
            super().settle(call, amount, lost=record.get("lost") is True)
