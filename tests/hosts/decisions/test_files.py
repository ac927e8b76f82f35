"""A file that only grows: whole lines, private, bounded, and shared by many processes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from skillyard.hosts.decisions.files import append_line
from tests.shared_data import PACKAGES
from tests.tables import for_each


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def test_it_is_bounded_and_what_was_before_is_kept_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for number in range(25):
        append_line(str(path), f"{number:09}", 50)
    assert path.stat().st_size <= 50
    assert lines(path) == [f"{number:09}" for number in range(20, 25)]
    assert lines(tmp_path / "log.1") == [f"{number:09}" for number in range(15, 20)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_an_error() -> None:
    with pytest.raises(OSError, match="space"):
        append_line("/dev/full", "one")


WRITER = """
import sys
from skillyard.hosts.decisions.files import append_line
for number in range(400):
    append_line(sys.argv[1], f"{sys.argv[2]} {number} " + sys.argv[2] * 200, int(sys.argv[3]))
"""


@for_each("most", [10**9, 100_000], ids=["one file", "renamed meanwhile"])
def test_processes_that_write_at_once_lose_no_line_and_mix_none(most: int, tmp_path: Path) -> None:
    path = tmp_path / "log"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name, str(most)],
            env={**os.environ, "PYTHONPATH": str(PACKAGES)},
        )
        for name in "abc"
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    found = lines(tmp_path / "log.1") + lines(path)
    for line in found:
        name, number, rest = line.split(" ")
        assert rest == name * 200
        assert 0 <= int(number) < 400
    assert len(set(found)) == len(found)
    if most == 10**9:
        assert len(found) == 1_200
    else:
        assert any(line.split(" ")[1] == "399" for line in lines(path))  # the newest are there
        assert (tmp_path / "log.1").stat().st_size > most / 2
        assert path.stat().st_size <= most + 3_000  # two may begin at once
