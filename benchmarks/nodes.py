"""Nodes over a shared store: how soon they answer from a commit, and what a query costs on one.

*Freshness*: two nodes in processes of their own follow a PostgreSQL server on loopback; a skill is
published again and again, and each node is asked for it until the answer says what was published.
The clock starts when the publish has returned, and once more, for who doubts that, when it began.
The peer is the plain thing underneath: one ``NOTIFY`` of psycopg until another connection has it.

*Queries*: the catalog of a node against ``open_catalog`` over the same skills as folders, the same
queries in this process, in turn. Both rank the same skills first, which is looked at.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.corpus import written_out
from benchmarks.limits import Bound, Row, RunSettings, command, from_options
from benchmarks.measure import Figure, Options, Skipped, against, take_turns
from benchmarks.service_process import check_machine, environment_in, listening
from benchmarks.serving import Connection
from benchmarks.synthetic import chosen

SUMMARY = "two nodes over PostgreSQL: commit to new answers, and a query against open_catalog"
NODES = 2
PUBLISHES = 100
QUICK_PUBLISHES = 20
FRESH_MS = 50.0
SKILLS = 3_000
QUICK_SKILLS = 300
ROUNDS = 9
QUERIES = 24
TARGET = 1.05
LIMIT = 10
PAUSE_S = 0.05
"""Between two publishes, so that each is a generation of its own on every node."""
POLL_S = 0.005
"""Between two looks at a node, which are work for it: a figure is up to so much too long."""
PATIENCE_S = 20.0
TENANT = "benchmark"
PROBE = "freshness-probe"
DATABASE = "postgres"


def run(options: Options) -> Iterator[Row]:
    """Yield the figures for ``python -m benchmarks``."""
    yield from measured(from_options(options))


def measured(settings: RunSettings) -> Iterator[Row]:
    """Yield the figures of freshness, then those of queries."""
    check_machine()
    server_class = _server_class()
    what, records = chosen(settings.shared, QUICK_SKILLS if settings.quick else SKILLS)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        environment = environment_in(folder)
        os.environ |= {name: environment[name] for name in ("SKILLYARD_CACHE", "XDG_CONFIG_HOME")}
        library = stack.enter_context(written_out(records, keep=settings.keep))
        server = server_class.make(durable=True)
        stack.callback(server.destroy)
        url = server.url(DATABASE)
        skills = _published(url, library.root)
        load = f"load {os.getloadavg()[0]:.1f}"
        yield Figure("library", f"{len(skills):,} {what}, {library.megabytes:.0f} MB; {load}")
        yield from _freshness(settings, url, server.url(DATABASE), folder, environment)
        library.settle()
        yield from _queries(settings, url, folder, library.root, skills)


def _server_class() -> Any:
    """Return what runs a PostgreSQL server. Raises Skipped where there is none."""
    from importlib.util import find_spec

    from tests.store.servers import ABSENT, Server, binaries

    if binaries() is None or find_spec("psycopg") is None:
        raise Skipped(ABSENT if binaries() is None else "psycopg is not installed")
    return Server


def _published(url: str, root: Path) -> Sequence[Any]:
    """Publish the skills of a folder, and return them."""
    from skillyard.engine.catalog import read_catalog
    from skillyard.store.opening import open_store
    from skillyard.store.values import Submission

    skills = read_catalog([str(root)]).skills
    with open_store(url, migrate=True) as store:
        store.publish(
            (Submission(skill, place=os.path.relpath(skill.path, root)) for skill in skills),
            tenant=TENANT,
            publisher="benchmark",
        )
    return skills


def _freshness(
    settings: RunSettings, url: str, plain: str, folder: str, environment: dict[str, str]
) -> Iterator[Row]:
    from skillyard.store.opening import open_store

    publishes = QUICK_PUBLISHES if settings.quick else PUBLISHES
    with ExitStack() as stack:
        ports = []
        for number in range(NODES):
            options = ("--state-dir", str(Path(folder, f"node-{number}")), "--local-only")
            serve = ("-m", "skillyard", "serve", "--port", "0", "--store", url, *options)
            node = stack.enter_context(listening(serve, folder, environment, ready="catalog"))
            ports.append(node.port)
        store = stack.enter_context(open_store(url))
        for _ in range(3):  # what loads with the first change is loaded
            _once(store, ports)
        times = [_once(store, ports) for _ in range(publishes)]
    returned, began = ([1000 * each[side] for each in times] for side in (0, 1))
    notified = [1000 * seconds for seconds in _notifications(plain, publishes)]
    yield Bound(
        f"a commit on every one of {NODES} nodes, from the publish's return: p50",
        statistics.median(returned),
        FRESH_MS,
        "ms",
        _spread(returned),
    )
    yield Figure(
        "the same from the publish's beginning, against NOTIFY to another connection",
        _spread(began),
        _spread(notified),
    )


def _spread(times: Sequence[float]) -> str:
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    middle = statistics.median(ordered)
    return f"p50 {middle:.1f}, p95 {p95:.1f}, max {ordered[-1]:.1f} ms over {len(times)}"


def _once(store: Any, ports: Sequence[int]) -> tuple[float, float]:
    """Publish, and return the seconds until the last node says so: from its return, its begin."""
    from skillyard.engine.skill import Skill

    time.sleep(PAUSE_S)
    description = f"Says {time.monotonic_ns()}."
    shown: list[float] = []
    waiting = [threading.Thread(target=_wait, args=(port, description, shown)) for port in ports]
    for thread in waiting:
        thread.start()
    began = time.perf_counter()
    store.publish([Skill(PROBE, description, description)], tenant=TENANT, publisher="benchmark")
    returned = time.perf_counter()
    for thread in waiting:
        thread.join()
    if len(shown) != len(ports):
        raise RuntimeError("a node did not show what was published")
    return max(shown) - returned, max(shown) - began


def _wait(port: int, description: str, shown: list[float]) -> None:
    """Ask a node until it says it."""
    connection = Connection(port)
    expected = description.encode("ascii")
    end = time.perf_counter() + PATIENCE_S
    while (now := time.perf_counter()) < end:
        _, _, body = connection.ask(f"/skill/{PROBE}")
        if expected in body:
            shown.append(time.perf_counter())
            break
        time.sleep(max(0.0, POLL_S - (time.perf_counter() - now)))
    connection.close()


def _notifications(url: str, count: int) -> list[float]:
    """Return the seconds from each ``NOTIFY`` until another connection has it."""
    import psycopg

    heard: list[float] = []
    ready = threading.Event()

    def listen() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("LISTEN benchmark")
            ready.set()
            heard.extend(time.perf_counter() for _ in connection.notifies(stop_after=count))

    listener = threading.Thread(target=listen)
    listener.start()
    ready.wait()
    times: list[float] = []
    with psycopg.connect(url, autocommit=True) as connection:
        for number in range(count):
            time.sleep(PAUSE_S)
            times.append(time.perf_counter())
            connection.execute("SELECT pg_notify('benchmark', %s)", (str(number),))
    listener.join()
    return [after - before for before, after in zip(times, heard, strict=True)]


def _queries(
    settings: RunSettings, url: str, folder: str, root: Path, skills: Sequence[Any]
) -> Iterator[Row]:
    from skillyard.engine.ranking.match import rank
    from skillyard.install.policy.library import open_catalog
    from skillyard.store.node.follower import Follower

    rounds = 3 if settings.quick else settings.rounds or ROUNDS
    embedded = open_catalog(root)
    texts = [
        " ".join(skill.description.split()[:words])
        for skill in skills[:: max(1, len(skills) // QUERIES)]
        for words in (3, 20)
    ]
    with Follower(url, str(Path(folder, "in-process"))) as follower:
        node = follower.wait(PATIENCE_S * 10)
        if node is None:
            raise RuntimeError(f"the store was not followed: {follower.following.failure}")
        probe = {PROBE}

        def asks(catalog: Any, text: str) -> Callable[[], list[str]]:
            return lambda: [match.skill.name for match in rank(catalog, text, limit=LIMIT)]

        for text in texts:
            ours, theirs = asks(node, text)(), asks(embedded, text)()
            if [name for name in ours if name not in probe][:5] != theirs[:5]:
                raise RuntimeError(f"a node and the embedded engine differ on {text!r}")
        samples = take_turns(
            {
                "node": [asks(node, text) for text in texts],
                "embedded": [asks(embedded, text) for text in texts],
            },
            rounds,
        )
    yield against(
        f"a query on a node, {len(texts)} queries of 3 and 20 words",
        ("a generation of the store", samples["node"]),
        ("open_catalog", samples["embedded"]),
        TARGET,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run this benchmark alone."""
    return command(Path(__file__).stem, SUMMARY, measured, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
