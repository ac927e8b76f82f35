"""One request to the service: its processor time against the search and a plain answer.

The server is ``skillyard serve`` in a process of its own, asked by one client over one connection.
The peer is two things added up: the same search in this process, and a Starlette ``JSONResponse``
of the same content from a second server with the same uvicorn settings (for gzip behind Starlette's
own middleware at the same level; for a 304 the whole plain answer). The server's watching of its
files is in its figure.

    python -m benchmarks.serving --peer FILE [--gzip]

is that second server: it answers ``/N`` with the N-th content of a JSON file.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote_plus

from benchmarks.corpus import COUNT, records, require_corpus, written_out
from benchmarks.limits import Row, RunSettings, command, from_options
from benchmarks.measure import Figure, Options, Sample, against, shown
from benchmarks.service_process import (
    Running,
    check_machine,
    environment_in,
    listening,
    served,
)

SUMMARY = "GET /search over 10,000 skills, server's processor time, against search + JSONResponse"
ROUNDS = 7
TARGET = 1.0
WORDS = (2, 5, 20)
QUERIES = 12
DESCRIBED = 500
"""Skills whose descriptions give the words."""
EMPTY = "when this that with from your user users also into them they need used uses"
"""Words that start many descriptions and find nothing."""
LONGEST = 200
"""Characters that the service takes as a query."""
LEVEL = 5
"""At which the service compresses."""
SMALL = 1_000
"""Skills of a quick run."""
LOOKS = 4
LOOK_S = 1.05
"""The service looks at its files at most once a second, when somebody asks."""


def run(options: Options) -> Iterator[Row]:
    """Yield the figures for ``python -m benchmarks``."""
    yield from measured(from_options(options))


def measured(settings: RunSettings) -> Iterator[Row]:
    """Yield the figures of requests of several lengths and ways."""
    require_corpus(settings.shared)
    check_machine()
    count = SMALL if settings.quick else COUNT
    rounds = 2 if settings.quick else settings.rounds or ROUNDS
    with (
        tempfile.TemporaryDirectory() as folder,
        written_out(records(settings.shared, count), keep=settings.keep) as library,
    ):
        environment = environment_in(folder)
        os.environ |= {name: environment[name] for name in ("SKILLYARD_CACHE", "XDG_CONFIG_HOME")}
        library.settle()
        queries = {words: _queries(settings.shared, count, words) for words in WORDS}
        with served(library.root, folder, environment) as server:
            yield Figure("library", f"{library.files:,} skills, {library.megabytes:.0f} MB")
            yield from _contests(server, library.root, folder, environment, queries, rounds)


def _queries(shared: Path, count: int, words: int) -> list[str]:
    """Return queries of so many words, taken from the descriptions of skills of the library."""
    queries, empty = [], EMPTY.split()
    for record in records(shared, DESCRIBED, count // DESCRIBED):
        described = re.findall(r"\b[A-Za-z]{4,9}\b", record["description"])
        text = " ".join([word for word in described if word.lower() not in empty][:words])
        if text.count(" ") == words - 1 and len(text) <= LONGEST:
            queries.append(text)
    return queries[:QUERIES]


class Connection:
    """One kept connection that asks and reads, as cheaply as can be."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, path: str, *headers: str) -> tuple[int, bytes, bytes]:
        """Return status, head and body of the answer."""
        lines = (f"GET {path} HTTP/1.1", "Host: 127.0.0.1", *headers, "", "")
        self._socket.sendall("\r\n".join(lines).encode("latin-1"))
        data = bytearray()
        while (gap := data.find(b"\r\n\r\n")) < 0:
            data += self._piece()
        head = bytes(data[:gap]).lower()
        status = int(head[9:12])
        length = 0 if status == 304 else _length(head)
        while len(data) < gap + 4 + length:
            data += self._piece()
        return status, head, bytes(data[gap + 4 :])

    def _piece(self) -> bytes:
        piece = self._socket.recv(262_144)
        if not piece:
            raise RuntimeError("the server closed the connection")
        return piece

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


def _length(head: bytes) -> int:
    match = re.search(rb"\r\ncontent-length: *(\d+)", head)
    return int(match[1]) if match else 0


class Way(NamedTuple):
    """One way of asking."""

    name: str
    headers: tuple[str, ...] = ()
    gzip: bool = False
    known: bool = False
    """True where the client sends the entity tag of what it has."""


WAYS = (Way("plain"), Way("gzip", ("Accept-Encoding: gzip",), gzip=True), Way("304", known=True))


class Bench(NamedTuple):
    """The three contestants, and what they are asked."""

    server: Running
    plain: Running
    gzip: Running
    search: Search


def _contests(
    server: Running,
    root: Path,
    folder: str,
    environment: dict[str, str],
    queries: dict[int, list[str]],
    rounds: int,
) -> Iterator[Row]:
    every = [query for group in queries.values() for query in group]
    contents = Path(folder, "contents.json")
    connection = Connection(server.port)
    bodies = [connection.ask(_path(query))[2] for query in every]
    connection.close()
    contents.write_bytes(b"[" + b",".join(bodies) + b"]")
    yield Figure("answers", f"{sum(map(len, bodies)) / len(bodies) / 1e3:.0f} kB on average")
    with ExitStack() as stack:
        plain, packed = (
            stack.enter_context(
                listening(
                    ("-m", "benchmarks.serving", "--peer", str(contents), *option),
                    folder,
                    environment,
                    ready="ready",
                )
            )
            for option in ((), ("--gzip",))
        )
        search = stack.enter_context(Search(root))
        bench = Bench(server, plain, packed, search)
        for words, group in queries.items():
            for way in WAYS:
                yield from _contest(bench, words, group, every.index(group[0]), way, rounds)
        yield from _idle(server, every[0])


def _path(query: str) -> str:
    return f"/search?q={quote_plus(query)}"


def _contest(
    bench: Bench, words: int, queries: list[str], first: int, way: Way, rounds: int
) -> Iterator[Row]:
    """Alternate server, search and peer, each over all the queries, once to warm up."""
    peer = bench.gzip if way.gzip else bench.plain
    ours, plain = Connection(bench.server.port), Connection(peer.port)
    tags = [_tag(ours.ask(_path(query))[1]) for query in queries] if way.known else []
    samples: dict[str, list[Sample]] = {"server": [], "search": [], "peer": []}
    status = 304 if way.known else 200
    for number in range(rounds + 1):
        before = bench.server.clocks()
        for place, query in enumerate(queries):
            headers = (f"If-None-Match: {tags[place]}",) if way.known else way.headers
            if ours.ask(_path(query), *headers)[0] != status:
                raise RuntimeError(f"{query!r}: not {status}")
        one = bench.server.since(before, len(queries))
        before = peer.clocks()
        for place in range(len(queries)):
            plain.ask(f"/{first + place}", *way.headers)
        other = peer.since(before, len(queries))
        alone = bench.search.measure(queries)
        if number:
            for name, sample in zip(samples, (one, alone, other), strict=True):
                samples[name].append(sample)
    ours.close()
    plain.close()
    both = [
        Sample(a.cpu_s + b.cpu_s, a.wall_s + b.wall_s)
        for a, b in zip(samples["search"], samples["peer"], strict=True)
    ]
    yield against(
        f"GET /search, {words} words, {way.name}",
        ("server, per request", samples["server"]),
        (
            f"search {shown(samples['search'])} + JSONResponse {shown(samples['peer'])}",
            both,
        ),
        TARGET,
    )


def _tag(head: bytes) -> str:
    match = re.search(rb"\r\netag: *([^\r]+)", head)
    if not match:
        raise RuntimeError("the answer has no entity tag")
    return match[1].decode("latin-1").replace("w/", "W/")


def _idle(server: Running, query: str) -> Iterator[Row]:
    """Yield what the look at the files costs: requests so far apart that each one starts a look."""
    connection = Connection(server.port)

    def idle_seconds(pause: float) -> float:
        before = server.cpu_s()
        for _ in range(LOOKS):
            connection.ask(_path(query))
            time.sleep(pause)
        return (server.cpu_s() - before) / LOOKS

    looks = idle_seconds(LOOK_S) - idle_seconds(0.0)
    connection.close()
    yield Figure("a look at the files, once a second", f"{looks * 1e3:.1f} ms processor time")


class Search:
    """The search that the service makes, in this process: the same sources, the same ranker."""

    def __init__(self, root: Path) -> None:
        from skillyard.install.policy.library import open_catalog
        from skillyard.install.search import SearchService
        from skillyard.install.sources.local import LocalSource
        from skillyard.install.sources.settings import Settings

        settings = Settings(enabled=(), shipped_registry=False)
        self._service = SearchService(
            [LocalSource(open_catalog([str(root)]))], settings=settings, cache=False
        )
        self._loop = asyncio.Runner()

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.close()

    def measure(self, queries: Sequence[str]) -> Sample:
        """Return what one of the queries takes."""

        async def searched() -> None:
            for query in queries:
                if not (await self._service.search(query, 10)).count:
                    raise RuntimeError(f"{query!r}: nothing found")

        start, before = time.perf_counter(), time.process_time()
        self._loop.run(searched())
        cpu, wall = time.process_time() - before, time.perf_counter() - start
        return Sample(cpu / len(queries), wall / len(queries))


def peer(contents: str, *, gzip: bool) -> None:
    """Serve the contents of a file, each as a Starlette JSONResponse."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.gzip import GZipMiddleware
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    values = json.loads(Path(contents).read_bytes())

    async def answer(request: Request) -> JSONResponse:
        return JSONResponse(values[request.path_params["number"]])

    compressing = [Middleware(GZipMiddleware, minimum_size=1_024, compresslevel=LEVEL)]
    app = Starlette(routes=[Route("/{number:int}", answer)], middleware=compressing if gzip else [])
    config = uvicorn.Config(
        app,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        for event in ("listening", "ready"):
            print(json.dumps({"event": event, "url": url}), file=sys.stderr, flush=True)
        uvicorn.Server(config).run([listener])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run this benchmark alone, or its second server."""
    line = list(sys.argv[1:] if arguments is None else arguments)
    if line[:1] == ["--peer"]:
        peer(line[1], gzip="--gzip" in line)
        return 0
    return command(Path(__file__).stem, SUMMARY, measured, line)


if __name__ == "__main__":
    raise SystemExit(main())
