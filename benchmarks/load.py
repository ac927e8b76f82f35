"""Many clients at once for a minute, some of them hostile: does anybody notice?

200 clients over kept connections ask 3,000 skills. Beside every twenty of their requests comes one
that is malformed, and one that costs as much as is allowed: patterns, pages, slow bodies. Both have
a connection of their own, and ten sockets say nothing for the whole time. The same load without
the costly ones and the idle sockets runs first, and the ratio of the two 99th percentiles is
printed. Costly requests come from an address of their own, or with ``--same-address`` from that of
the honest ones, with which they then share a client's part.

The load has one of two shapes. *Closed*: each client asks, waits for the answer, thinks for an
exponential time of ``--think`` seconds on average, and asks again; a slow server is asked less.
*Open*: requests come at ``--rate`` a second, exponentially spaced, whatever the server does; each
takes the next free client, and its latency counts from when it was due, so that waiting is counted
too. Client and server share the machine: the rate reached and the processor time of both are
printed, and without thinking 200 clients measure only the queue.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from benchmarks.clients import HONEST, Answer, Client, attack, idle
from benchmarks.corpus import written_out
from benchmarks.costly import costly, write_costly_skills
from benchmarks.limits import Bound, Row, RunSettings, command, from_options
from benchmarks.measure import Figure, Options
from benchmarks.observation import Load, Request, Seen, figures, p99_ms
from benchmarks.requests import Hostile, get, malformed, post
from benchmarks.service_process import Running, check_machine, environment_in, events_in, served
from benchmarks.synthetic import chosen

SUMMARY = "200 clients, without and with 5 % hostile, over 3,000 skills: latency, faults, memory"
CLIENTS = 200
SECONDS = 60.0
QUICK_SECONDS = 6.0
SKILLS = 3_000
QUICK_SKILLS = 300
MALFORMED = 0.05
COSTLY = 0.05
HOSTILE_IDLE = 10
"""5 % of the clients."""
HOSTILE_ADDRESS = "127.0.0.2"
SLOWER = 3.0
THINK_S = 4.0
RATE = 50.0
IDLE = 100
IDLE_ASKING = 20
IDLE_S = 5.0
ANSWERED_S = 1.0
SEED = 17
HALF = b"GET /search?q=pdf HTTP/1.1\r\nHost: 127.0."
SHAPES = ("closed", "open")


def run(options: Options) -> Iterator[Row]:
    """Yield the figures for ``python -m benchmarks``."""
    yield from measured(from_options(options))


def measured(settings: RunSettings) -> Iterator[Row]:
    """Yield the figures of one load, and of idle sockets beside a few clients."""
    check_machine()
    what, skills = chosen(settings.shared, QUICK_SKILLS if settings.quick else SKILLS)
    with (
        tempfile.TemporaryDirectory() as folder,
        written_out(skills, keep=settings.keep) as library,
    ):
        environment = environment_in(folder)
        library.settle()
        hostile = Path(folder, "hostile")
        write_costly_skills(hostile)
        with served(library.root, folder, environment, hostile) as server:
            yield Figure("library", f"{library.files:,} {what}, {library.megabytes:.0f} MB")
            requests = _requests(skills)
            first = library.root / skills[0]["id"] / "SKILL.md"
            load = _load(settings, first if getattr(settings.options, "change", False) else None)
            same = getattr(settings.options, "same_address", False)
            calm = asyncio.run(_loaded(server, load._replace(changed=None), requests, None))
            yield Figure("without the costly share: latency p99", f"{p99_ms(calm):.1f} ms")
            address = HONEST if same else HOSTILE_ADDRESS
            seen = asyncio.run(_loaded(server, load, requests, address))
            yield from figures(load, seen)
            yield Bound(
                "latency p99 with the costly share / without",
                p99_ms(seen) / p99_ms(calm),
                SLOWER,
                note=f"costly requests from {'the same' if same else 'another'} address",
            )
            beside = asyncio.run(_idle(server, requests, IDLE_S / 2 if settings.quick else IDLE_S))
            yield from _idle_figures(beside)
            yield from _log_figures(server)


def _load(settings: RunSettings, changed: Path | None) -> Load:
    options = settings.options
    seconds = getattr(options, "seconds", None) or (QUICK_SECONDS if settings.quick else SECONDS)
    return Load(
        getattr(options, "shape", SHAPES[0]),
        seconds,
        getattr(options, "clients", CLIENTS),
        getattr(options, "think", THINK_S),
        getattr(options, "rate", RATE),
        changed,
    )


def _requests(skills: Sequence[dict[str, Any]]) -> list[Request]:
    """Return the honest requests, as often as each is to come."""
    requests = []
    for number, record in enumerate(skills[:: max(1, len(skills) // 240)]):
        words = record["description"].split()[:12]
        text = quote_plus(" ".join(words)[:150])
        short = quote_plus(" ".join(record["name"].replace("-", " ").split()[:4])[:100])
        packed = "Accept-Encoding: gzip"
        requests += [
            Request("search", get(f"/search?q={text}")),
            Request("search", get(f"/search?q={short}", packed)),
            Request("search, no content", get(f"/search?q={short}&include_content=false")),
            Request("rank", get(f"/rank?q={text}", packed)),
        ]
        if number % 2:
            body = b'{"text": "%s"}' % record["name"].encode("ascii", "ignore").replace(b'"', b"")
            name = quote_plus(record["name"])
            requests += [
                Request("select", post("/select", body)),
                Request("skill", get(f"/skill/{name}"), (200, 300, 404, 409, 422)),
                Request("health", get("/health")),
            ]
    return requests


async def _loaded(
    server: Running, load: Load, requests: Sequence[Request], costly_from: str | None
) -> Seen:
    """Run the load and watch the server's memory.

    ``costly_from`` is the address of the costly requests and idle sockets, None for neither.
    """
    rng = random.Random(SEED)
    clients = [Client(server.port) for _ in range(load.clients)]
    run = _Run(server.port, clients, requests, rng, costly_from)
    await run.warmed()
    files = server.open_files()
    start, cpu, own = time.perf_counter(), server.cpu_s(), time.process_time()
    end = start + load.seconds
    watching = asyncio.create_task(_watched(server, start, end))
    changing = asyncio.create_task(_changed(load))
    holding = [
        asyncio.create_task(idle(server.port, costly_from, HALF * (number % 2), end))
        for number in range(HOSTILE_IDLE if costly_from else 0)
        if costly_from
    ]
    if load.shape == "closed":
        await asyncio.gather(*(run.thinking(client, load.think_s, end) for client in clients))
    else:
        await run.arriving(load.rate, end)
    seconds = time.perf_counter() - start
    used = server.cpu_s() - cpu, time.process_time() - own
    await run.settled()
    memory = await watching
    await changing
    await asyncio.gather(*holding)
    ends = files, server.open_files()
    for client in clients:
        client.close()
    opened = sum(client.connections for client in clients)
    return Seen(run.honest, run.hostile, memory, ends, seconds, *used, opened, run.most_waiting)


class _Run:
    """One load: what is sent next, what came back."""

    def __init__(
        self,
        port: int,
        clients: list[Client],
        requests: Sequence[Request],
        rng: random.Random,
        costly_from: str | None,
    ) -> None:
        self._port = port
        self._clients = clients
        self._requests = requests
        self._rng = rng
        self._malformed = malformed()
        self._costly = costly()
        self._costly_from = costly_from
        self._running: set[asyncio.Task[None]] = set()
        self.honest: list[tuple[Request, Answer]] = []
        self.hostile: list[tuple[str, tuple[int, ...], Answer]] = []
        self.most_waiting = 0

    async def warmed(self) -> None:
        """Ask each kind of thing once, so that nothing is measured while it loads."""
        for request in {request.kind: request for request in self._requests}.values():
            await self._clients[0].ask(request.data)

    async def thinking(self, client: Client, think_s: float, end: float) -> None:
        """One client of the closed shape; it starts somewhere within its first pause."""
        pause = self._rng.random() * think_s
        while time.perf_counter() + pause < end:
            await asyncio.sleep(pause)
            await self._one(client, None)
            pause = self._rng.expovariate(1 / think_s) if think_s else 0.0

    async def arriving(self, rate: float, end: float) -> None:
        """Start requests of the open shape when they are due."""
        free: asyncio.Queue[Client] = asyncio.Queue()
        for client in self._clients:
            free.put_nowait(client)
        due = time.perf_counter()

        async def served(at: float) -> None:
            client = await free.get()
            await self._one(client, at)
            free.put_nowait(client)

        while (due := due + self._rng.expovariate(rate)) < end:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            self._start(served(due))
            self.most_waiting = max(self.most_waiting, len(self._running) - len(self._clients))

    def _start(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def settled(self) -> None:
        """Wait for what is still on its way."""
        while self._running:
            await asyncio.wait(self._running)

    async def _one(self, client: Client, since: float | None) -> None:
        if self._rng.random() < MALFORMED:
            self._start(self._hostile(self._rng.choice(self._malformed), HONEST))
        drawn, one = self._rng.random(), self._rng.choice(self._costly)
        if self._costly_from and drawn < COSTLY:
            self._start(self._hostile(one, self._costly_from))
        request = self._rng.choice(self._requests)
        self.honest.append((request, await client.ask(request.data, since)))

    async def _hostile(self, one: Hostile, address: str) -> None:
        answer = await attack(self._port, one, address)
        self.hostile.append((one.name, one.expected, answer))


async def _changed(load: Load) -> None:
    if load.changed is not None:
        await asyncio.sleep(load.seconds / 2)
        with load.changed.open("a", encoding="utf-8") as file:
            file.write("\nOne more line.\n")


async def _watched(server: Running, start: float, end: float) -> list[tuple[float, float]]:
    series = []
    while time.perf_counter() < end:
        series.append((time.perf_counter() - start, server.memory_mb()))
        await asyncio.sleep(1.0)
    return series


async def _idle(server: Running, requests: Sequence[Request], seconds: float) -> list[Answer]:
    """Ask while a hundred sockets say nothing, or half a request."""
    sockets = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(IDLE)]
    for _, writer in sockets[::2]:
        writer.write(HALF)
    searches = [request for request in requests if request.kind == "search"]
    answers: list[Answer] = []
    end = time.perf_counter() + seconds
    rng = random.Random(SEED)

    async def asking() -> None:
        client = Client(server.port)
        while time.perf_counter() < end:
            answers.append(await client.ask(rng.choice(searches).data))
            await asyncio.sleep(0.5)
        client.close()

    await asyncio.gather(*(asking() for _ in range(IDLE_ASKING)))
    for _, writer in sockets:
        writer.close()
    return answers


def _idle_figures(answers: Sequence[Answer]) -> Iterator[Row]:
    yield Bound(
        f"beside {IDLE} idle sockets: the slowest answer",
        max(answer.seconds for answer in answers),
        ANSWERED_S,
        "s",
        f"{len(answers)} searches of {IDLE_ASKING} clients",
    )
    yield Bound(
        f"beside {IDLE} idle sockets: not answered",
        sum(answer.status != 200 for answer in answers),
        0,
    )


def _log_figures(server: Running) -> Iterator[Row]:
    """Count what the server itself called a failure."""
    events = Counter(line["event"] for line in events_in(server.log))
    yield Bound("failures in the server's log", events["failure"], 0)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--shape", choices=SHAPES, default=SHAPES[0], help="of the load")
    parser.add_argument("--seconds", type=float, help=f"how long (default {SECONDS:g})")
    parser.add_argument("--clients", type=int, default=CLIENTS, help=f"default {CLIENTS}")
    parser.add_argument(
        "--think", type=float, default=THINK_S, help=f"closed: mean pause, s (default {THINK_S:g})"
    )
    parser.add_argument(
        "--rate", type=float, default=RATE, help=f"open: requests a second (default {RATE:g})"
    )
    parser.add_argument(
        "--same-address", action="store_true", help="costly requests from the honest address"
    )
    parser.add_argument(
        "--change", action="store_true", help="change one skill when half of the time is over"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run this benchmark alone."""
    return command(Path(__file__).stem, SUMMARY, measured, arguments, _options)


if __name__ == "__main__":
    raise SystemExit(main())
