"""Any system call may fail, any instant may be the last: the index is the old or the new one."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillyard import SkillIoError
from skillyard.engine.index import manifest
from skillyard.engine.index.index_writer import IndexWriter, verify
from skillyard.engine.index.segment_searcher import open_index
from tests.engine.index.random_documents import DIMENSIONS, SOAK, Asker, document, in_memory, write
from tests.tables import for_each

KILLS = 50 if SOAK else 6
REPOSITORY = Path(__file__).resolve().parents[3]


class Failing:
    """Makes the n-th call of any of the system calls that write fail."""

    CALLS = ("open", "write", "fsync", "replace")

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, code: int) -> None:
        self.left = number
        self.code = code
        for name in self.CALLS:
            monkeypatch.setattr(os, name, self._wrapped(getattr(os, name)))

    def _wrapped(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise OSError(self.code, os.strerror(self.code))
            return call(*arguments, **options)

        return counted


@pytest.mark.slow
@for_each("code", [errno.EIO, errno.ENOSPC, errno.EACCES])
def test_every_system_call_of_a_change_may_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    rng = random.Random(21)
    old = [document(rng, f"k{number}") for number in range(40)]
    new = [document(rng, f"k{number}") for number in range(30, 3_000)]
    asker = Asker(5)
    before = asker.answers(in_memory(old))
    after = asker.answers(in_memory({d.key: d for d in (*old, *new)}.values()))
    for number in range(1, 200):
        folder = tmp_path / str(number)
        write(folder, old)
        failed = False
        with monkeypatch.context() as patched:
            failing = Failing(patched, number, code)
            try:
                write(folder, new)
            except SkillIoError:
                failed = True
        searcher = open_index(str(folder))
        assert searcher is not None
        assert asker.answers(searcher) == (before if failed else after)
        assert [each for each in verify(str(folder)) if each.severity == "error"] == []
        if failing.left > 0:
            assert not failed
            break
        write(folder, new)  # whatever was left behind is in nobody's way
        again = open_index(str(folder))
        assert again is not None
        assert asker.answers(again) == after
    else:
        pytest.fail("the change never got through")
    assert number > 6


def test_a_folder_that_cannot_be_written_is_a_named_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(SkillIoError, match="index"):
        write(tmp_path / "file" / "below", [])


def test_a_second_writer_is_refused_and_told_why(tmp_path: Path) -> None:
    with (
        IndexWriter(str(tmp_path), dimensions=DIMENSIONS, settings={}),
        pytest.raises(SkillIoError) as caught,
    ):
        IndexWriter(str(tmp_path), dimensions=DIMENSIONS, settings={})
    assert caught.value.code == "index_busy"
    write(tmp_path, [])  # and the lock is free again


CHILD = """
import random, sys
sys.path.insert(0, sys.argv[2])
from tests.engine.index.random_documents import document, write
rng = random.Random(33)
number = 0
while True:
    write(sys.argv[1], [document(rng, f"k{rng.randint(0, 400)}") for _ in range(60)])
    number += 1
    print(number, flush=True)
"""


def test_killed_at_any_instant_it_is_one_whole_generation(tmp_path: Path) -> None:
    """A real process, really killed; every generation that it can have made is known."""
    rng = random.Random(34)
    folder = tmp_path / "index"
    for kill in range(KILLS):
        command = [sys.executable, "-c", CHILD, str(folder), str(REPOSITORY)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline()  # it has made one generation at least
            end = time.monotonic() + rng.uniform(0.0, 0.15)
            while time.monotonic() < end:
                pass
            child.send_signal(signal.SIGKILL)
            done = 1 + len(child.stdout.read().split())
        searcher = open_index(str(folder))
        assert searcher is not None
        assert [each for each in verify(str(folder)) if each.severity == "error"] == []
        made = random.Random(33)
        live = {}
        for _ in range(searcher.generation):
            batch = [document(made, f"k{made.randint(0, 400)}") for _ in range(60)]
            live.update({each.key: each for each in batch})
        # What was reported is there; at most one more had been switched to.
        assert searcher.generation in (done, done + 1), f"kill {kill}"
        asker = Asker(kill)
        assert asker.answers(searcher) == asker.answers(in_memory(live.values()))
        for path in folder.iterdir():
            path.unlink()


def test_what_a_killed_writer_left_is_taken_away_by_the_next(tmp_path: Path) -> None:
    write(tmp_path, [document(random.Random(1), "k")])
    stray = tmp_path / f"{'0' * 16}.seg"
    stray.write_bytes(b"half")
    half = tmp_path / f"{manifest.NAME}.1.tmp"
    half.write_bytes(b"half")
    assert {each.code for each in verify(str(tmp_path))} == {"index_stray_file"}
    write(tmp_path, [document(random.Random(2), "l")])
    assert not stray.exists()
    assert not half.exists()
