"""Workers do what they are sent for, and their end is an error with a name, never a hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from skillyard.base.io.workers import WorkerLost, Workers
from skillyard.errors import InvalidInput
from tests.base.io import errands
from tests.shared_data import PACKAGES


def test_a_worker_that_is_killed_is_an_error_that_says_what_to_do() -> None:
    with Workers(2) as workers:
        waiting = [workers.submit(errands.dead), workers.submit(errands.doubled, 1)]
        with pytest.raises(WorkerLost, match="run it again"):
            waiting[0]()
        with pytest.raises(WorkerLost):
            workers.submit(errands.doubled, 1)


def test_an_error_of_the_work_is_raised_here() -> None:
    with Workers(2) as workers, pytest.raises(InvalidInput, match="no"):
        workers.submit(errands.refusing)()


ORPHANS = """
import os, signal
from skillyard.base.io.workers import Workers

if __name__ == "__main__":
    workers = Workers(2)
    pids = {workers.submit(os.getpid)() for _ in range(4)}
    print(*pids, flush=True)
    signal.pause()
"""


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    """Nobody else would end them, and each holds its memory."""
    program = tmp_path / "parent.py"
    program.write_text(ORPHANS, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    with subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert pids
        os.kill(parent.pid, signal.SIGKILL)
        # The workers hold the pipe too: it ends when the last of them has.
        assert parent.stdout.read() == ""
    assert not any(_runs(pid) for pid in pids)


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
