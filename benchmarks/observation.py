"""What was observed under a load, as figures with their limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import linear_regression
from typing import NamedTuple

from benchmarks.clients import Answer
from benchmarks.limits import Bound, Row
from benchmarks.measure import Figure

__all__ = ["Load", "Request", "Seen", "figures", "p99_ms"]

WARM_UP = 0.25
"""Share of the time after which memory is looked at."""
P99_MS = 250.0
MEMORY = 0.10


class Load(NamedTuple):
    """What is sent, by whom, for how long."""

    shape: str
    seconds: float
    clients: int
    think_s: float
    rate: float
    changed: Path | None = None
    """A file of the library that is written anew when half of the time is over."""


class Request(NamedTuple):
    """One honest request, and the statuses that it may get."""

    kind: str
    data: bytes
    expected: tuple[int, ...] = (200,)


class Seen(NamedTuple):
    """What was observed under the load."""

    honest: list[tuple[Request, Answer]]
    hostile: list[tuple[str, tuple[int, ...], Answer]]
    memory: list[tuple[float, float]]
    """Seconds since the start, megabytes."""
    files: tuple[int, int]
    """Open files of the server at the start and at the end."""
    seconds: float
    server_s: float
    client_s: float
    connections: int
    most_waiting: int


def figures(load: Load, seen: Seen) -> Iterator[Row]:
    """Yield what was observed under a load: the load, faults, latencies, memory."""
    requests = len(seen.honest) + len(seen.hostile)
    shape = (
        f"closed, {load.think_s:g} s of thinking on average"
        if load.shape == "closed"
        else f"open, {load.rate:g} requests a second"
    ) + (", one skill changed halfway" if load.changed is not None else "")
    yield Figure(
        f"load: {load.clients} clients, {load.seconds:g} s, {shape}",
        f"{requests:,} requests, {requests / seen.seconds:.0f} a second reached,"
        f" {seen.connections} connections, at most {seen.most_waiting} requests without a client",
    )
    yield Figure(
        "processor",
        f"server {seen.server_s / seen.seconds:.0%} of a core,"
        f" {seen.server_s / max(1, requests) * 1e3:.1f} ms a request;"
        f" clients {seen.client_s / seen.seconds:.0%} of a core",
    )
    yield from _faults(seen)
    yield from _latencies(seen)
    yield from _memory(load, seen.memory)
    yield Figure(
        "open files of the server", f"{seen.files[0]} at the start, {seen.files[1]} at the end"
    )


def _faults(seen: Seen) -> Iterator[Row]:
    honest, evil = seen.honest, seen.hostile
    statuses = Counter(answer.status for _, answer in honest)
    attacked = Counter(answer.status for _, _, answer in evil)
    counts = ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items()))
    yield Bound("answers of 5xx", _fives(statuses) + _fives(attacked), 0, note=f"honest {counts}")
    yield Bound("connections dropped", statuses[0], 0, note="an honest request without its answer")
    odd = Counter(
        f"{request.kind}: {answer.status}"
        for request, answer in honest
        if answer.status not in (0, *request.expected)
    )
    yield Bound("honest requests refused", odd.total(), 0, note=_counted(odd))
    wrong = Counter(
        f"{name}: {answer.status}"
        for name, expected, answer in evil
        if expected and answer.status not in expected
    )
    yield Bound(
        "hostile requests without their refusal",
        wrong.total(),
        0,
        note=f"of {len(evil):,}; {attacked[-1]} were given up by their clients {_counted(wrong)}",
    )


def _fives(statuses: Counter[int]) -> int:
    return sum(count for status, count in statuses.items() if status >= 500)


def _counted(names: Counter[str]) -> str:
    return ", ".join(f"{name} ({count}x)" for name, count in names.most_common(6))


def p99_ms(seen: Seen) -> float:
    """Return the 99th percentile of the honest requests' latencies, in milliseconds."""
    return _at(sorted(answer.seconds for _, answer in seen.honest if answer.status), 0.99)


def _latencies(seen: Seen) -> Iterator[Row]:
    times = sorted(answer.seconds for _, answer in seen.honest if answer.status)
    if not times:
        yield Bound("honest requests answered: none", 1, 0)
        return
    kinds = sorted({request.kind for request, _ in seen.honest})
    parts = []
    for kind in kinds:
        own = sorted(a.seconds for r, a in seen.honest if r.kind == kind and a.status)
        if own:
            parts.append(f"{kind} {_at(own, 0.5):.0f}/{_at(own, 0.99):.0f}")
    yield Figure("latency p50/p99 in ms", ", ".join(parts))
    yield Bound(
        "latency p99",
        _at(times, 0.99),
        P99_MS,
        "ms",
        f"p50 {_at(times, 0.5):.1f}, p90 {_at(times, 0.9):.1f}, most {times[-1] * 1e3:.0f} ms",
    )


def _at(ordered: Sequence[float], share: float) -> float:
    """Return a quantile in milliseconds."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1e3


def _memory(load: Load, series: Sequence[tuple[float, float]]) -> Iterator[Row]:
    warm = [(at, held) for at, held in series if at >= WARM_UP * load.seconds]
    if len(warm) < 3:
        yield Figure("memory", "too short to tell")
        return
    first = warm[0][1]
    slope = linear_regression(*zip(*warm, strict=True)).slope
    sizes = " ".join(f"{held:.0f}" for _, held in series[:: max(1, len(series) // 12)])
    yield Bound(
        "memory after warm-up, furthest from its start",
        max(abs(held - first) for _, held in warm) / first * 100,
        MEMORY * 100,
        "%",
        f"{first:.0f} MB at {warm[0][0]:.0f} s, {warm[-1][1]:.0f} MB at the end, slope"
        f" {slope * 1e3:+.0f} kB/s; MB: {sizes}",
    )
