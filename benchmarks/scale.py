"""A million skills: published, taken over by a node, and served, on this machine.

``SKILLYARD_BENCH_SCALE`` sets another number. The skills are those of
:mod:`benchmarks.resampled`, in folders, with ``SKILLYARD_BENCH_WHOLE=1`` as long as real ones.
The database is a real PostgreSQL server of its own, with the settings of the tests. Peak memory
counts all processes of a step together, each page that they share once (proportional set size).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.measure import SOURCE, Figure, Options, Skipped
from benchmarks.resampled import write_skills
from benchmarks.service_process import Running, environment_in, listening

SUMMARY = "a million skills: publish, take over, start, ask, change (an hour; by name only)"
SKILLS = int(os.environ.get("SKILLYARD_BENCH_SCALE", "1000000"))
WHOLE = os.environ.get("SKILLYARD_BENCH_WHOLE", "") == "1"
INGEST_S = 15 * 60
INGEST_MB = 2_048
START_S = 2.0
QUERIES = 300
CHANGES = 50
APART_S = 0.1


class Step(NamedTuple):
    """One command, watched from outside."""

    output: dict[str, Any]
    wall_s: float
    cpu_s: float
    peak_mb: float

    def __str__(self) -> str:
        return f"{self.wall_s:,.1f} s, {self.cpu_s:,.0f} s of processor, {self.peak_mb:,.0f} MB"


def run(options: Options) -> Iterator[Figure]:
    if sys.platform != "linux":
        raise Skipped("memory of other processes is read from /proc")
    from tests.store.servers import ABSENT, Server, binaries

    if binaries() is None:
        raise Skipped(ABSENT)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "skills")
        write_skills(path, options.shared, SKILLS, whole=WHOLE)
        yield Figure("skills", f"{SKILLS:,} folders")
        server = Server.make()
        try:
            server.sql("CREATE DATABASE catalog")
            row: dict[str, float] = {"skills": SKILLS}
            yield from _steps(path, server.url("catalog"), folder, row)
            row["database_gb"] = server.sql("SELECT pg_database_size('catalog')")[0][0] / 1e9
            yield Figure("size of the database", f"{row['database_gb']:.2f} GB")
            rounded = {name: round(value, 4) for name, value in row.items()}
            yield Figure("for capacity.json", json.dumps(rounded))
        finally:
            server.destroy()


def _steps(path: Path, url: str, folder: str, row: dict[str, float]) -> Iterator[Figure]:
    environment = environment_in(folder) | {"SKILLYARD_STORE": url}
    _watched(("store", "init", "--store", url, "--json"), environment)
    publish = ("store", "publish", "--store", url, "--tenant", "bench", "--json")
    named = (*publish, "--jobs", str(os.cpu_count() or 1), str(path))
    first = _watched(named, environment)
    yield _limited("publish", first, INGEST_S, INGEST_MB)
    yield Figure("published", json.dumps(_counts(first.output)))
    again = _watched(named, environment)
    yield Figure("publish the same again", f"{again}; {json.dumps(_counts(again.output))}")
    node = str(Path(folder, "node"))
    command = ("-m", "skillyard", "serve", "--local-only", "--port", "0", "--store", url)
    began = time.perf_counter()
    with listening((*command, "--state-dir", node), folder, environment, ready="catalog"):
        row["sync_s"] = time.perf_counter() - began
    yield Figure("taken over by a node", f"{row['sync_s']:,.1f} s")
    size = sum(file.stat().st_size for file in Path(node).rglob("*") if file.is_file())
    row["disk_gb"] = size / 1e9
    yield Figure("size of the node", f"{row['disk_gb']:.2f} GB")
    yield from _served(url, node, folder, environment, row)


def _served(
    url: str, node: str, folder: str, environment: Mapping[str, str], row: dict[str, float]
) -> Iterator[Figure]:
    command = ("-m", "skillyard", "serve", "--local-only", "--port", "0", "--store", url)
    starts = []
    for _ in range(3):
        began = time.perf_counter()
        with listening((*command, "--state-dir", node), folder, environment, ready="catalog") as it:
            _rank(it, "deploy a container")
            starts.append(time.perf_counter() - began)
    row["start_s"] = median(starts)
    met = "ok" if median(starts) <= START_S else "over"
    yield Figure(
        "node start to first answer, from its folder",
        f"{median(starts):.2f} s ({min(starts):.2f}–{max(starts):.2f}), limit {START_S:g} s: {met}",
    )
    with listening((*command, "--state-dir", node), folder, environment, ready="catalog") as it:
        yield from _queries(it, row)
        yield from _changes(it, url, row)
        row["memory_gb"] = _pss(it.pid) / 1_024
        yield Figure("memory of the node, private and shared", f"{_pss(it.pid):,.0f} MB")


def _queries(node: Running, row: dict[str, float]) -> Iterator[Figure]:
    questions = _questions()
    for question in questions[:20]:
        _rank(node, question)
    took, before = [], node.cpu_s()
    for question in questions:
        began = time.perf_counter()
        _rank(node, question)
        took.append(1_000 * (time.perf_counter() - began))
    cpu = 1_000 * (node.cpu_s() - before) / len(questions)
    took.sort()
    row["request_ms"] = cpu
    yield Figure(
        f"/rank, {len(questions)} requests that come for the first time",
        f"p50 {took[len(took) // 2]:.1f} ms, p95 {took[int(0.95 * len(took))]:.1f} ms;"
        f" {cpu:.1f} ms of processor each",
    )


def _questions() -> list[str]:
    from benchmarks.corpus import shared_folder

    path = shared_folder() / "bench" / "dev_queries.jsonl"
    with path.open(encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return [str(each.get("text") or each.get("query")) for each in records][:QUERIES]


def _changes(node: Running, url: str, row: dict[str, float]) -> Iterator[Figure]:
    """What a change costs, and the time from the return of a publish to its first answer."""
    from skillyard.engine.skill import Skill
    from skillyard.store.opening import open_store

    took = []
    with open_store(url) as store:

        def publish(number: int) -> int:
            skill = Skill("edited-skill", "Says what was edited.", f"Edition {number}.")
            return store.publish([skill], tenant="bench", publisher="edit").generation

        before = node.cpu_s()
        for number in range(CHANGES):
            publish(number)
            time.sleep(APART_S)  # each is taken over by itself
        row["change_ms"] = 1_000 * (node.cpu_s() - before) / CHANGES
        yield Figure("processor of one change on the node", f"{row['change_ms']:.1f} ms")
        for number in range(CHANGES, 2 * CHANGES):
            generation = publish(number)
            began = time.perf_counter()
            while _rank(node, "edited skill") < generation:
                pass
            took.append(1_000 * (time.perf_counter() - began))
    took.sort()
    row["lag_ms"] = took[len(took) // 2]
    yield Figure(
        f"commit to new answers, {CHANGES} changes of one skill",
        f"p50 {took[len(took) // 2]:.0f} ms, p95 {took[int(0.95 * len(took))]:.0f} ms",
    )


def _rank(node: Running, question: str) -> int:
    """Ask for a ranking; return the generation that answered."""
    query = urllib.parse.urlencode({"q": question, "limit": 10})
    with urllib.request.urlopen(f"http://127.0.0.1:{node.port}/rank?{query}") as answer:
        answer.read()
        return int(answer.headers["Skillyard-Generation"])


def _limited(what: str, step: Step, seconds: float, megabytes: float) -> Figure:
    met = step.wall_s <= seconds and step.peak_mb <= megabytes
    limit = f"limit {seconds:,.0f} s and {megabytes:,.0f} MB: {'ok' if met else 'over'}"
    return Figure(what, f"{step}; {SKILLS / step.wall_s:,.0f} a second", limit)


def _counts(output: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in output.items() if isinstance(value, int)}


def _watched(arguments: Sequence[str], environment: Mapping[str, str]) -> Step:
    """Run a command and look at its processes ten times a second."""
    before = os.times()
    began = time.perf_counter()
    peak = 0.0
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with subprocess.Popen(
            (sys.executable, "-m", "skillyard", *arguments),
            env={**environment, "PYTHONPATH": str(SOURCE)},
            stdout=output,
            stderr=errors,
        ) as process:
            while process.poll() is None:
                peak = max(peak, sum(_pss(pid) for pid in _family(process.pid)))
                time.sleep(0.1)
        errors.seek(0)
        output.seek(0)
        if process.returncode not in (0, 1):
            raise RuntimeError(errors.read().decode("utf-8", "replace")[-2_000:])
        text = output.read().decode()
    after = os.times()
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    last = text.strip().splitlines()[-1] if text.strip() else "{}"
    result = json.loads(text) if text.lstrip().startswith("{\n") else json.loads(last)
    return Step(result, time.perf_counter() - began, cpu, peak)


def _family(pid: int) -> list[int]:
    family = [pid]
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        for thread in threads:
            listed = Path(f"/proc/{pid}/task/{thread}/children").read_text()
            for child in listed.split():
                family += _family(int(child))
    except OSError:
        pass
    return family


def _pss(pid: int) -> float:
    """Return the memory of a process in megabytes: shared pages by their share."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    row = next((row for row in rollup.splitlines() if row.startswith("Pss:")), "Pss: 0 kB")
    return int(row.split()[1]) / 1_024
