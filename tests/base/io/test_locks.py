"""One lock for processes and threads."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from skillyard.base.io.locks import file_lock
from tests.shared_data import REPOSITORY

HOLDER = """
import sys
sys.path.insert(0, sys.argv[2])
from skillyard.base.io.locks import file_lock
lock = file_lock(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_a_lock_excludes_other_holders_until_it_is_closed(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with file_lock(path) as held:
        with pytest.raises(BlockingIOError, match="has the lock"):
            file_lock(path)
        held.close()
        file_lock(path, timeout_s=5).close()
    assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600


def test_the_lock_of_a_process_ends_with_it(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path, str(REPOSITORY / "src")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError):
            file_lock(path)
        holder.kill()
        holder.wait()
    file_lock(path).close()
