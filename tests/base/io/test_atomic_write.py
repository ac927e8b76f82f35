"""A file is written whole or not at all, whatever call of the system fails on the way."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillyard.base.io.files import atomic_write, remove_leftovers, write_output
from tests.tables import for_each

CALLS = ("open", "fchmod", "stat", "fsync", "replace")
OLD, NEW = b"old", b"new" * 1000


def failing(
    monkeypatch: pytest.MonkeyPatch, name: str, nth: int, error: BaseException
) -> Callable[[], int]:
    """Let the n-th call of one function of the system fail; return how often it was called."""
    real: Any = getattr(os, name)
    calls = [0]

    def call(*given: Any, **named: Any) -> Any:
        calls[0] += 1
        if calls[0] == nth:
            raise error
        return real(*given, **named)

    monkeypatch.setattr(os, name, call)
    return lambda: calls[0]


@for_each("exists", [True, False])
@for_each("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@for_each("name", CALLS)
def test_a_call_that_fails_leaves_what_was_there(
    name: str, error: BaseException, exists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    if exists:
        path.write_bytes(OLD)
    with monkeypatch.context() as patch:
        called = failing(patch, name, 1, error)
        try:
            atomic_write(str(path), NEW)
            whole = True
        except type(error):
            whole = False
        reached = called() > 0
    assert whole == (not reached), "a failure that matters is raised"
    assert os.listdir(tmp_path) == (["file"] if whole or exists else [])
    if whole or exists:
        assert path.read_bytes() == (NEW if whole else OLD)


@for_each("name", ["open", "fsync"])
def test_a_folder_that_cannot_be_synced_is_written_all_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    with monkeypatch.context() as patch:
        called = failing(patch, name, 2, OSError(22, "Invalid argument"))
        atomic_write(str(path), NEW)
        assert called() == 2
    assert path.read_bytes() == NEW


def test_permissions_of_what_is_replaced_stay(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    path.chmod(0o640)
    atomic_write(str(path), NEW)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    new = tmp_path / "new"
    atomic_write(str(new), NEW, mode=0o600)
    assert stat.S_IMODE(new.stat().st_mode) == 0o600


def test_a_link_that_a_person_named_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(OLD)
    (tmp_path / "link").symlink_to("real")
    write_output(str(tmp_path / "link"), NEW)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == NEW
    write_output(str(tmp_path / "real"), OLD)
    assert (tmp_path / "real").read_bytes() == OLD


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_that_a_person_named_is_written_through(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_output(str(tmp_path / "pipe"), NEW)
        assert b"".join(iter(lambda: os.read(reader, 4096), b"")) == NEW
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


def test_only_what_killed_processes_left_of_this_file_is_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    names = [f".file.{pid}-0.tmp" for pid in (ended.pid, os.getpid())]
    others = [f".other.{ended.pid}-0.tmp", f".file.{ended.pid}.tmp", "file"]
    for name in [*names, *others]:
        (tmp_path / name).write_bytes(OLD)
    remove_leftovers(str(tmp_path / "file"))
    assert sorted(os.listdir(tmp_path)) == sorted([names[1], *others])
