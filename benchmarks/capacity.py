"""What a number of skills and of requests a second needs: nodes, memory, database.

    python -m benchmarks.capacity [--skills 10000000] [--rate 10000] [--json]

The costs are measured ones: ``capacity.json`` holds what ``python -m benchmarks scale`` printed
for several sizes, with the date and the machine. The rest is a simulation, seeded and the same in
every run: requests come at random times (Poisson) to nodes that a proxy chooses by the fewest
running requests; each needs its node's interpreter for the Python part, one at a time, and any
processor of the machine for the pass over the index, which lets other threads run.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Costs", "Machine", "Simulated", "costs_of", "plan", "simulate", "table"]

MEASURED = Path(__file__).with_name("capacity.json")
SEED = 3
REQUESTS = 40_000
"""Of one simulated run; the first tenth is warming up."""
WAIT = 1.0
"""What 99 of 100 requests may wait, in the time that a mean request takes, one machine gone."""
BUSY = 0.75
"""Of the processors, at most: what is left is for changes and for bad luck."""


class Costs(NamedTuple):
    """What one request and one skill cost at a size, from what was measured."""

    skills: int
    python_ms: float
    """Of a request: the part that runs one at a time in a process."""
    pass_ms: float
    """Of a request: the pass over the index, which grows with the skills."""
    disk_gb: float
    memory_gb: float
    """Of one node process, mapped pages included."""
    database_gb: float
    change_ms: float
    """Processor of a node for one changed skill."""
    sync_hours: float
    """For the first synchronisation, on two processors."""
    lag_ms: float
    """From a commit to answers, median."""


class Machine(NamedTuple):
    """What a node runs on."""

    processors: int = 16
    processes: int = 4
    """Node processes side by side, each with a folder of its own."""


class Simulated(NamedTuple):
    """Latencies of a simulated run, in milliseconds, and how busy the processors were."""

    machines: int
    p50: float
    p99: float
    busy: float


def _line(points: Sequence[tuple[float, float]], at: float) -> float:
    """Return the value at a place on the line of least squares of relative errors."""
    weights = [1 / y**2 for _, y in points]
    total = sum(weights)
    mx = sum(w * x for w, (x, _) in zip(weights, points, strict=True)) / total
    my = sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / total
    sxx = sum(w * (x - mx) ** 2 for w, (x, _) in zip(weights, points, strict=True))
    sxy = sum(w * (x - mx) * (y - my) for w, (x, y) in zip(weights, points, strict=True))
    slope = sxy / sxx if sxx else 0.0
    return my + slope * (at - mx)


def costs_of(measured: dict[str, Any], skills: int) -> Costs:
    """Return the costs at a size: on the lines through what was measured at several."""
    rows = measured["sizes"]

    def at(name: str, size: float = skills) -> float:
        return max(0.0, _line([(row["skills"], row[name]) for row in rows], size))

    python = at("request_ms", 0)
    return Costs(
        skills,
        python,
        max(0.0, at("request_ms") - python),
        at("disk_gb"),
        at("memory_gb"),
        at("database_gb"),
        at("change_ms"),
        at("sync_s") / 3_600,
        at("lag_ms"),
    )


def simulate(costs: Costs, machine: Machine, machines: int, rate: float) -> Simulated:
    """Run requests through the machines; return how long they took."""
    draw = random.Random(SEED)
    processes = machines * machine.processes
    interpreter = [0.0] * processes
    """When each process's interpreter is free, in seconds."""
    processors = [[0.0] * machine.processors for _ in range(machines)]
    running: list[tuple[float, int]] = []
    load = [0] * processes
    queue = [(0, number) for number in range(processes)]
    now = worked = 0.0
    took = []
    for number in range(REQUESTS):
        now += draw.expovariate(rate)
        while running and running[0][0] <= now:
            _, finished = heapq.heappop(running)
            load[finished] -= 1
            heapq.heappush(queue, (load[finished], finished))
        while True:  # the one with the fewest; entries of before are skipped
            count, process = heapq.heappop(queue)
            if count == load[process]:
                break
        # Requests differ: half to one and a half times the mean, as measured ones do.
        python = costs.python_ms * draw.uniform(0.5, 1.5) / 1_000
        over = costs.pass_ms * draw.uniform(0.5, 1.5) / 1_000
        start = max(now, interpreter[process])
        interpreter[process] = start + python
        free = processors[process // machine.processes]
        earliest = heapq.heappop(free)
        end = max(start + python, earliest) + over
        heapq.heappush(free, max(earliest, start) + python + over)
        worked += python + over
        load[process] += 1
        heapq.heappush(queue, (load[process], process))
        heapq.heappush(running, (end, process))
        if number >= REQUESTS // 10:
            took.append(1_000 * (end - now))
    took.sort()
    busy = worked / (now * machines * machine.processors)
    return Simulated(machines, took[len(took) // 2], took[int(0.99 * len(took))], busy)


def plan(costs: Costs, machine: Machine, rate: float) -> Simulated:
    """Return the fewest machines that answer in time and keep room, one of them gone."""
    each = (costs.python_ms + costs.pass_ms) / 1_000
    machines = max(1, int(rate * each / machine.processors / BUSY))
    most = 10 * machines + 100
    while True:
        result = simulate(costs, machine, machines, rate)
        if machines > most:
            raise ValueError("no number of machines answers in time")
        # The slowest request takes half more than the mean one, without any wait.
        if result.p99 <= (1.5 + WAIT) * 1_000 * each and result.busy <= BUSY:
            return result._replace(machines=machines + 1)
        machines += max(1, machines // 50)


def table(measured: dict[str, Any], skills: int, rate: float) -> Iterator[tuple[str, str]]:
    """Yield what is needed, as (what, figure)."""
    costs, machine = costs_of(measured, skills), Machine()
    result = plan(costs, machine, rate)
    changes = 0.1 * skills / 86_400
    each = costs.python_ms + costs.pass_ms
    yield "skills", f"{skills:,}"
    yield "requests a second", f"{rate:,.0f}"
    yield (
        "processor of a request",
        f"{each:.1f} ms: {costs.python_ms:.1f} in Python, {costs.pass_ms:.1f} over the index",
    )
    yield f"machines of {machine.processors} processors, one of them spare", f"{result.machines:,}"
    yield "latency with one machine gone", f"p50 {result.p50:.0f} ms, p99 {result.p99:.0f} ms"
    yield "processors busy with one machine gone", f"{100 * result.busy:.0f} %"
    yield (
        "memory of a machine",
        f"{machine.processes * costs.memory_gb:,.0f} GB for {machine.processes} processes",
    )
    yield "disk of a machine", f"{machine.processes * costs.disk_gb:,.0f} GB"
    yield "disk of the database, without old versions", f"{costs.database_gb:,.0f} GB"
    yield "a tenth of the skills changed each day", f"{changes:.1f} changes a second"
    yield (
        "what they take of each process",
        f"{100 * changes * costs.change_ms / 1_000:.1f} % of a processor",
    )
    followers = result.machines * machine.processes
    size = 1e6 * costs.database_gb / skills
    yield (
        "what followers read from the database",
        f"{followers * changes:,.0f} rows a second, {followers * changes * size / 1_000:,.1f} MB",
    )
    yield "first synchronisation of a node, two processors", f"{costs.sync_hours:,.1f} hours"
    yield "commit to new answers, median", f"{costs.lag_ms:,.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capacity", description=__doc__)
    parser.add_argument("--skills", type=int, default=10_000_000)
    parser.add_argument("--rate", type=float, default=10_000.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    rows = list(table(measured, options.skills, options.rate))
    if options.json:
        print(json.dumps(dict(rows), indent=1))
        return
    width = max(len(what) for what, _ in rows)
    for what, figure in rows:
        print(f"{what:{width}}  {figure}")


if __name__ == "__main__":
    main()
