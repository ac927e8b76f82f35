"""A program that runs command lines in forked children, so that Python starts only once.

``python -m tests.cli.installation.forks`` reads one JSON list a line: a folder and arguments.
It prints the child's process id, and its status when it has ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from tests.shared_data import PACKAGES, REPOSITORY

__all__ = ["Forks"]

KILLED = 99
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = frozenset(
    f"os.{name}" for name in ("rename", "remove", "mkdir", "rmdir", "symlink", "chmod")
)
"""Events of Python's audit hooks."""


class Forks:
    """The program from outside. Its children see the environment of now."""

    def __init__(self, warm_up: Path) -> None:
        """``warm_up`` is a project whose skills are asked for once, which loads all modules."""
        path = f"{PACKAGES}{os.pathsep}{REPOSITORY}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.installation.forks", str(warm_up)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
            cwd=REPOSITORY,
        )
        assert self._line() == "ready"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def start(self, folder: Path, *arguments: str, kill_at: int = 0) -> int:
        """Start a command line and return its process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps([str(folder), arguments, kill_at])}\n")
        self._process.stdin.flush()
        return int(self._line())

    def end(self) -> int:
        """Wait for the end of the one that was started; return its exit code, -9 when killed."""
        return os.waitstatus_to_exitcode(int(self._line()))

    def run(self, folder: Path, *arguments: str) -> int:
        """Run a command line to its end and return its exit code."""
        self.start(folder, *arguments)
        return self.end()

    def kill(self, folder: Path, after_s: float, *arguments: str) -> bool:
        """Start a command line and kill it after a time; False when it had ended before."""
        end = time.perf_counter() + after_s
        process = self.start(folder, *arguments)
        time.sleep(max(0.0, end - time.perf_counter()))
        try:
            os.kill(process, signal.SIGKILL)  # not reaped before its status is read
        except ProcessLookupError:
            pass
        return self.end() == -signal.SIGKILL

    def kill_at(self, folder: Path, change: int, *arguments: str) -> bool:
        """Let a command line die before its nth change of a file; False when it makes fewer."""
        self.start(folder, *arguments, kill_at=change)
        return self.end() == KILLED

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the program ended with {self._process.wait()}"
        return line.strip()


def _serve(warm_up: str) -> None:
    from skillyard.cli import main

    out = os.dup(1)
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(silence, stream)
    os.chdir(warm_up)
    main(["outdated"])
    main(["update"])
    main(["verify"])
    os.write(out, b"ready\n")
    for line in sys.stdin:
        folder, arguments, kill_at = json.loads(line)
        process = os.fork()
        if process == 0:
            os.close(out)
            os.dup2(silence, 0)
            os.chdir(folder)
            if kill_at:
                sys.addaudithook(_killer(kill_at))
            os._exit(_code(main, arguments))
        os.write(out, f"{process}\n".encode())
        _, status = os.waitpid(process, 0)
        os.write(out, f"{status}\n".encode())


def _killer(change: int) -> Callable[[str, tuple[object, ...]], None]:
    """Return an audit hook that ends the process, without any clean-up, before a change."""
    left = change

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES
        if writes or event in _CHANGES:
            left -= 1
            if left == 0:
                os._exit(KILLED)

    return hook


def _code(main: object, arguments: Sequence[str]) -> int:
    assert callable(main)
    try:
        return int(main(arguments))
    except BaseException:  # noqa: BLE001 - the test sees the code
        return 70


if __name__ == "__main__":
    _serve(sys.argv[1])
