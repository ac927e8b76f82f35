"""Publishing many skills into a new store, against the least that a database must be told.

Ours: ``skillyard store publish --jsonl``, everything included (start, reading, parsing, digests,
comparison with what stands, generations of 2,000, each durable). The peer reads the same lines,
takes path and text out of them and puts them into one table with a primary key: by one COPY of
psycopg, or by ``executemany`` of 2,000 at a time in SQLite. Nothing can be told from that table but
the text; it is the floor. Both run as processes of their own against the same server, which writes
to disk as it should (``fsync``). Memory is the sum of the resident sizes of the process and all
its children, twenty times a second: pages that they share are counted for each.

    python -m benchmarks.ingest {copy,insert} URL FILE

is the peer. SKILLYARD_INGEST=N publishes N skills instead of 50,000.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpus import require_corpus
from benchmarks.measure import Figure, Options, Ratios, child_environment
from benchmarks.resampled import lines

SUMMARY = "50,000 skills into PostgreSQL and SQLite; skills a second and memory"
COUNT = int(os.environ.get("SKILLYARD_INGEST", "50000"))
ROUNDS = 1
JOBS = 2
MILLION = 1_000_000
LOOK_S = 0.05
_TABLE = "CREATE TABLE peer (path text PRIMARY KEY, content text NOT NULL)"


class Taken(NamedTuple):
    """What a process and its children took."""

    wall_s: float
    cpu_s: float
    memory_mb: float

    def __str__(self) -> str:
        rate = COUNT / self.wall_s
        return (
            f"{self.wall_s:.1f} s, {rate:,.0f} skills/s, processor {self.cpu_s:.1f} s,"
            f" {self.memory_mb:.0f} MB"
        )


def run(options: Options) -> Iterator[Figure]:
    require_corpus(options.shared)
    with tempfile.TemporaryDirectory(prefix="skillyard-ingest-") as place:
        source = Path(place) / "skills.jsonl"
        with source.open("w", encoding="utf-8") as file:
            file.writelines(lines(options.shared, range(COUNT)))
        yield Figure("given", f"{COUNT:,} skills, {source.stat().st_size / 1e6:.0f} MB of lines")
        environment = child_environment(str(Path(place) / "bytecode"))
        for number in range(options.rounds or ROUNDS):
            file_url = f"sqlite:///{place}/{number}.db"
            yield from _contest("SQLite", "insert", file_url, source, environment)
            yield from _on_a_server(source, environment)


def _on_a_server(source: Path, environment: dict[str, str]) -> Iterator[Figure]:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.store.servers import Server, binaries

    if binaries() is None:
        yield Figure("PostgreSQL", "skipped: there is no server here")
        return
    server = Server.make(durable=True)
    try:
        server.sql("CREATE DATABASE store")
        yield from _contest("PostgreSQL", "copy", server.url("store"), source, environment)
    finally:
        server.destroy()


def _contest(
    kind: str, how: str, url: str, source: Path, environment: dict[str, str]
) -> Iterator[Figure]:
    from skillyard.store.opening import open_store

    peer_url = f"{url}.peer" if how == "insert" else url
    peer = _resources_of(
        [sys.executable, "-m", "benchmarks.ingest", how, peer_url, str(source)], environment
    )
    with open_store(url, migrate=True) as store:
        command = [sys.executable, "-m", "skillyard", "store", "publish", "--quiet", "--json"]
        command += ["--store", url, "--tenant", "acme", "--publisher", "bench"]
        command += ["--jsonl", str(source), "--jobs", str(JOBS)]
        ours, again = _resources_of(command, environment), _resources_of(command, environment)
        stand = store.status().skills
        if stand < 0.99 * COUNT:  # a few real ones are refused: control characters, odd names
            raise RuntimeError(f"{stand} skills stand, not {COUNT}")
        generations = store.generations(limit=100_000)[::-1]
    yield Figure(
        f"{kind}: published, {stand:,} stand", str(ours), f"{how}: {peer}", _ratio(ours, peer)
    )
    yield Figure(
        f"{kind}: published again, nothing new", str(again), f"{how}: {peer}", _ratio(again, peer)
    )
    fifth = max(1, len(generations) // 5)
    first, last = (
        sum(each.added for each in some) / max(1, some[-1].published_at - some[0].published_at)
        for some in (generations[: fifth + 1], generations[-fifth - 1 :])
    )
    yield Figure(
        f"{kind}: a million at this rate",
        f"{MILLION / COUNT * ours.wall_s / 60:.1f} min; the first fifth came at some"
        f" {first:,.0f} skills/s, the last at {last:,.0f}",
    )


def _ratio(ours: Taken, peer: Taken) -> Ratios:
    return Ratios((ours.wall_s / peer.wall_s,))


def _resources_of(command: Sequence[str], environment: dict[str, str]) -> Taken:
    """Run a command to its end and return what it and its children took."""
    most = [0.0]
    began = time.perf_counter()
    with tempfile.TemporaryFile() as stderr:
        child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=stderr)
        over = threading.Event()

        def look() -> None:
            while not over.wait(LOOK_S):
                most[0] = max(most[0], sum(map(_resident_mb, _family(child.pid))))

        looking = threading.Thread(target=look, daemon=True)
        looking.start()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        over.set()
        looking.join()
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1):
            stderr.seek(0)
            raise RuntimeError(f"{command[:4]} ended: {stderr.read()[-500:].decode()}")
    return Taken(wall, usage.ru_utime + usage.ru_stime, most[0])


def _family(pid: int) -> list[int]:
    family = [pid]
    for each in family:
        try:
            tasks = Path(f"/proc/{each}/task").iterdir()
            family += [
                int(kid) for task in tasks for kid in (task / "children").read_text().split()
            ]
        except OSError:  # it ended while it was looked at
            pass
    return family


def _resident_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def _rows(path: str) -> Iterator[tuple[str, str]]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            yield record["path"], record["content"]


def _copy(url: str, path: str) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute(_TABLE)
        with connection.cursor().copy("COPY peer (path, content) FROM STDIN") as copy:
            for row in _rows(path):
                copy.write_row(row)


def _insert(url: str, path: str) -> None:
    import sqlite3
    from itertools import islice

    database = sqlite3.connect(url.removeprefix("sqlite:///"))
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute(_TABLE)
    rows = _rows(path)
    while some := list(islice(rows, 2_000)):
        with database:
            database.executemany("INSERT INTO peer VALUES (?, ?)", some)
    database.close()


if __name__ == "__main__":
    {"copy": _copy, "insert": _insert}[sys.argv[1]](*sys.argv[2:4])
