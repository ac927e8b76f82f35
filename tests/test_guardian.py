"""A test run that is killed leaves no server behind."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared_data import PACKAGES
from tests.store.servers import binaries

TESTS = """
import os, subprocess
from pathlib import Path
from tests.store.servers import Server, binaries

def test_servers():
    apart = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    pids = [apart.pid]
    if binaries() is not None:
        data = Server.make().data
        pids.append(int((data / "postmaster.pid").read_text().split()[0]))
        print(data.parent)
    Path("pids.tmp").write_text(" ".join(map(str, pids)))
    os.rename("pids.tmp", "pids")
    os.write(int(os.environ["READY"]), b"ready")
    apart.wait()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_a_killed_run_takes_its_servers_along(tmp_path: Path) -> None:
    (tmp_path / "test_servers.py").write_text(TESTS)
    ready, told = os.pipe()
    root = Path(__file__).parents[1]
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "test_servers.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{PACKAGES}", "READY": str(told)},
        stdout=subprocess.PIPE,
        pass_fds=[told],
    )
    os.close(told)
    try:
        assert os.read(ready, 5) == b"ready", run.communicate()[0]
    finally:
        run.kill()
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == (1 if binaries() is None else 2)
    for pid in pids:
        try:
            process = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        assert select.select([process], [], [], 60)[0], f"{pid} is still running"
        os.close(process)
    run.communicate()
    os.close(ready)
