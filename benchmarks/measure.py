"""How everything here is measured: alternately, in processor time, as ratios with their range.

A round runs each contestant once, one after the other (A B A B …), so that a busy machine slows
both. The main figure is processor time; wall time is kept beside it. The garbage collector stays
on, as in real use: before each measured call it is run once, and what was alive before the
contest is frozen out of its sight where a module says so.
"""

from __future__ import annotations

import gc
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

SOURCE = Path(__file__).resolve().parents[1] / "src"


class Sample(NamedTuple):
    """What one call or one process took."""

    cpu_s: float
    wall_s: float


class Ratios(NamedTuple):
    """Ours over the peer's, one value a round."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def __str__(self) -> str:
        return f"{self.median:.2f}x ({min(self.values):.2f}–{max(self.values):.2f})"


class Figure(NamedTuple):
    """One line of the output: ours against a peer, or a number that is only for information."""

    what: str
    ours: str
    peer: str = ""
    ratios: Ratios | None = None
    target: float | None = None

    @property
    def verdict(self) -> str:
        """``ok`` or ``over`` by the median; empty without a target."""
        if self.ratios is None or self.target is None:
            return ""
        return "ok" if self.ratios.median <= self.target else "over"

    def to_dict(self) -> dict[str, Any]:
        shape: dict[str, Any] = {"what": self.what, "ours": self.ours, "peer": self.peer}
        if self.ratios is not None:
            shape |= {"ratio": self.ratios.median, "rounds": list(self.ratios.values)}
            shape |= {"target": self.target, "verdict": self.verdict}
        return shape


class Skipped(Exception):
    """What a job needs is not here; the message says what."""


def versions_of(*modules: str, extra: str) -> str:
    """Return names and versions of modules that an extra installs. Raises Skipped without one."""
    try:
        loaded = {name: import_module(name) for name in modules}
    except ImportError as missing:
        raise Skipped(f"needs skillyard[{extra}]: {missing}") from None
    return ", ".join(f"{name.replace('_', '-')} {m.__version__}" for name, m in loaded.items())


class Options(NamedTuple):
    """What the command line asked for."""

    shared: Path
    rounds: int | None = None
    keep: bool = False
    importtime: bool = False


def timed(job: Callable[[], object]) -> Sample:
    """Return what one call takes; its result is dropped after the clock has stopped."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = job()
    sample = Sample(time.process_time() - cpu, time.perf_counter() - wall)
    del result
    return sample


def alternate(
    contestants: Mapping[str, Callable[[], Sample]], rounds: int
) -> dict[str, list[Sample]]:
    """Run every contestant once a round, in order, and return their samples by name.

    For whole processes, which measure themselves.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            samples[name].append(contestant())
    return samples


def take_turns(
    contestants: Mapping[str, Sequence[Callable[[], object]]], rounds: int
) -> dict[str, list[Sample]]:
    """Run the n-th call of every contestant in turn, for each n; one sample a round, the mean.

    Each contestant's first call runs once before the clock starts.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in contestants}
    for calls in contestants.values():
        calls[0]()
    for _ in range(rounds):
        samples_by_name: dict[str, list[Sample]] = {name: [] for name in contestants}
        for number in range(min(map(len, contestants.values()))):
            for name, calls in contestants.items():
                gc.collect()
                samples_by_name[name].append(timed(calls[number]))
        for name, each in samples_by_name.items():
            cpu, wall = (sum(column) / len(each) for column in zip(*each, strict=True))
            samples[name].append(Sample(cpu, wall))
    return samples


def ratios(ours: Sequence[Sample], peer: Sequence[Sample]) -> Ratios:
    """Return the ratio of processor time, round by round."""
    return Ratios(tuple(a.cpu_s / b.cpu_s for a, b in zip(ours, peer, strict=True)))


def shown(samples: Sequence[Sample], work: str = "") -> str:
    """Return the median processor time, the wall time beside it, and what was done."""
    cpu = statistics.median(sample.cpu_s for sample in samples)
    wall = statistics.median(sample.wall_s for sample in samples)
    return f"{duration(cpu)} ({duration(wall)} wall){': ' if work else ''}{work}"


def duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} us"


def against(
    what: str,
    ours: tuple[str, Sequence[Sample]],
    peer: tuple[str, Sequence[Sample]],
    target: float | None = None,
) -> Figure:
    """Return the line for two contestants, each as (what it does, its samples)."""
    return Figure(
        what, shown(ours[1], ours[0]), shown(peer[1], peer[0]), ratios(ours[1], peer[1]), target
    )


def child_environment(bytecode: str) -> dict[str, str]:
    """Return an environment in which a child finds the package and keeps its bytecode.

    An installed package starts from bytecode, so a checkout must too: both contestants get the
    same folder for it, and a first, unmeasured start fills it.
    """
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = bytecode
    paths = [str(SOURCE), str(SOURCE.parent), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return environment


def installed_environment(folder: Path) -> dict[str, str]:
    """Return an environment in which a child imports a copy of the package in ``folder``.

    The copy is like an installation: its bytecode lies beside it, once an unmeasured start has
    written it, and the path of modules has no other folder of this checkout.
    """
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE / "skillyard", folder / "skillyard", ignore=ignored)
    environment = dict(os.environ)
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"):
        environment.pop(name, None)
    environment["PYTHONPATH"] = str(folder)
    return environment


def run_child(command: Sequence[str], environment: Mapping[str, str]) -> Sample:
    """Run a command to its end; return its own user and system time (``os.wait4``)."""
    start = time.perf_counter()
    child = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):  # 1 is a command's own negative answer
        raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}")
    return Sample(usage.ru_utime + usage.ru_stime, wall)


def peak_memory_mb() -> float:
    """Return the most memory this process has held, in MB (10**6 bytes).

    The kernel's own mark is asked for first: ``getrusage`` of a child starts from its parent's.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024 / 1e6
    except OSError:
        pass
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def current_memory_mb() -> float | None:
    """Return the memory this process holds now, in MB, where the system tells."""
    try:
        with open("/proc/self/statm", encoding="ascii") as status:
            return int(status.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6
    except OSError:
        return None
