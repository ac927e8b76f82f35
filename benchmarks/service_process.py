"""``skillyard serve`` in a process of its own, and what it costs, read from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.measure import Sample, Skipped, child_environment

__all__ = ["Running", "check_machine", "environment_in", "listening", "served"]

PATIENCE_S = 300.0
"""For the first start over a large library, which builds its index."""


class Running(NamedTuple):
    """A process that listens."""

    pid: int
    port: int
    log: Path
    """What it wrote on standard error."""

    def cpu_s(self) -> float:
        """Return the processor time of all its threads so far, of ended ones too."""
        return time.clock_gettime((~self.pid << 3) | 2)  # the kernel's clock of another process

    def memory_mb(self) -> float:
        """Return the memory that it holds now."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 1e6

    def open_files(self) -> int:
        """Return how many files it has open, its connections left out."""
        names = (Path(f"/proc/{self.pid}/fd") / name for name in os.listdir(f"/proc/{self.pid}/fd"))
        return sum(not _link(name).startswith("socket:") for name in names)

    def clocks(self) -> tuple[float, float]:
        """Return its processor time and the time on the wall."""
        return self.cpu_s(), time.perf_counter()

    def since(self, before: tuple[float, float], requests: int) -> Sample:
        """Return what one of so many requests took."""
        cpu, wall = self.clocks()
        return Sample((cpu - before[0]) / requests, (wall - before[1]) / requests)


def _link(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:  # closed meanwhile
        return "socket:"


def check_machine() -> None:
    """Raise Skipped where another process cannot be looked at, or nothing can be served."""
    from importlib.util import find_spec

    if not Path("/proc/self/statm").is_file():
        raise Skipped("another process's figures are read from /proc, which is not here")
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise Skipped(f"not installed: {', '.join(missing)}")


def environment_in(folder: str) -> dict[str, str]:
    """Return an environment whose cache and settings lie in ``folder`` and nowhere else."""
    environment = child_environment(str(Path(folder, "bytecode")))
    for name in [name for name in environment if name.startswith("SKILLYARD_")]:
        del environment[name]
    return environment | {
        "SKILLYARD_CACHE": str(Path(folder, "cache")),
        "XDG_CONFIG_HOME": str(Path(folder, "settings")),
    }


@contextmanager
def served(
    root: Path, folder: str, environment: Mapping[str, str], *more: Path
) -> Iterator[Running]:
    """Serve a library as a user would, until the context ends; its catalog is ready then."""
    roots = [word for path in (root, *more) for word in ("--root", str(path))]
    command = ("-m", "skillyard", "serve", "--local-only", "--port", "0", *roots)
    with listening(command, folder, environment, ready="catalog") as running:
        yield running


@contextmanager
def listening(
    command: Sequence[str], folder: str, environment: Mapping[str, str], *, ready: str
) -> Iterator[Running]:
    """Run a Python command that logs ``listening`` with its url, and then an event ``ready``."""
    log = Path(folder, f"log-{time.monotonic_ns()}.jsonl")
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            (sys.executable, *command), env=environment, stdout=stderr, stderr=stderr
        ) as process,
    ):
        try:
            yield Running(process.pid, _port(process, log, ready), log)
            if process.poll() is not None:
                raise RuntimeError(f"the server ended with {process.returncode}: {_end(log)}")
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def _port(process: subprocess.Popen[bytes], log: Path, ready: str) -> int:
    end = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < end:
        events = {line["event"]: line for line in events_in(log)}
        if "listening" in events and ready in events:
            return urlsplit(events["listening"]["url"]).port or 0
        time.sleep(0.05)
    raise RuntimeError(f"the server did not start: {_end(log)}")


def events_in(log: Path) -> Iterator[dict[str, str]]:
    """Yield the events of a log so far."""
    for line in log.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("{") and line.endswith("\n"):
            yield json.loads(line)


def _end(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-500:]
