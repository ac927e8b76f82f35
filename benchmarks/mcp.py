"""What MCP costs: a call of our tools against a trivial tool of the official SDK, over stdio.

Ours: ``skill_evaluate``, ``load_skill``, ``list_skills`` and ``why_skill`` of ``skillyard serve
--mcp stdio`` over a library. The peer: one tool of the same SDK's high-level server that returns
a text, so long that its result has as many characters as ours, text and structured together. Both
are processes of their own, each spoken to by the SDK's client over one kept connection, in turns;
what is timed is the call as the client sees it, less the work that the tool is for. That is the
use case that it calls, timed by a clock around it in the server itself, call by call, since a
process that sleeps between calls works more slowly than one that does the same again and again.
Everything else is overhead, the client's check of our results against their schemas included. The
first figure is the start: processor time of the process that answers the list of tools. Of
``load_skill`` the look into the skill's folder is taken off, and of ``list_skills`` nothing. The
library of 10,000 skills is the corpus.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpus import corpus_file, records, written_out
from benchmarks.measure import (
    Figure,
    Options,
    Ratios,
    Skipped,
    child_environment,
    duration,
    run_child,
    shown,
)

SUMMARY = "a call of our MCP tools over the SDK's trivial tool, at the same result size"
ROUNDS = 9
CALLS = 60
"""Calls of one round, in turns; the round's figure is the tenth part that was quickest, at its
slowest: two processes on a busy machine wait for each other at random."""
TARGET = 1.3
START_S = 1.0
"""Seconds of processor time that a start may take."""
CLIENT = {"name": "benchmark", "version": "0"}

TRIVIAL = """
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("trivial")
@server.tool()
def trivial(size: int) -> str:
    return "x" * size
server.run("stdio")
"""
OURS = """
import os, struct, sys, time
from skillyard.__main__ import start
from skillyard.serve.mcp import local_tools

root, path = sys.argv[1:]
took = os.open(path, os.O_WRONLY)

def timed(room, name):
    work = getattr(room, name)
    def clocked(*arguments, **options):
        start = time.perf_counter()
        result = work(*arguments, **options)
        os.write(took, struct.pack("d", time.perf_counter() - start))
        return result
    setattr(room, name, clocked)

timed(local_tools, "evaluate_skills")
timed(local_tools, "explain")
timed(local_tools.Why, "document")
timed(local_tools, "list_resources")
sys.argv[1:] = ["serve", "--mcp", "stdio", "--tools", "all", "--local-only", root]
start()
"""
QUERY = "extract the tables of a scanned pdf report into a spreadsheet"

Call = Callable[[], Awaitable[Any]]


def run(options: Options) -> Iterator[Figure]:
    try:
        import mcp  # noqa: F401
    except ImportError:
        raise Skipped("the MCP SDK is not installed: pip install 'skillyard[serve]'") from None
    rounds = options.rounds or ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "skills"
        _write_small(small)
        environment = child_environment(folder + "/bytecode")
        yield _start(small, environment, rounds)
        yield from asyncio.run(_figures(str(small), "3 skills", environment, rounds))
    if not corpus_file(options.shared).is_file():
        return
    with (
        tempfile.TemporaryDirectory() as bytecode,
        written_out(records(options.shared), keep=options.keep) as library,
    ):
        library.settle()
        environment = child_environment(bytecode)
        what = f"{library.files:,} skills"
        yield from asyncio.run(_figures(str(library.root), what, environment, rounds))


def _start(root: Path, environment: Mapping[str, str], rounds: int) -> Figure:
    """Return the processor time of a process that answers the list of tools, over ``START_S``."""
    opening: Any = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": opening},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    lines = root.parent / "messages.jsonl"
    lines.write_text("".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in messages))
    serve = 'exec "$0" -m skillyard serve --mcp stdio --local-only "$1" < "$2"'
    command = ("sh", "-c", serve, sys.executable, str(root), str(lines))
    samples = [run_child(command, environment) for _ in range(rounds + 1)][1:]
    ratios = Ratios(tuple(each.cpu_s / START_S for each in samples))
    return Figure(
        "start to tools/list", shown(samples, "serve --mcp stdio"), f"{START_S:g} s", ratios, 1.0
    )


def _write_small(root: Path) -> None:
    for name, about in (("pdf-tables", "Extract tables from PDF files."), ("deploy", "Ship it.")):
        (root / name).mkdir(parents=True)
        text = f"---\nname: {name}\ndescription: {about}\n---\n{about * 100}\n"
        (root / name / "SKILL.md").write_text(text, encoding="utf-8")


@asynccontextmanager
async def _client(program: str, environment: Any, *arguments: str) -> AsyncIterator[Any]:
    from mcp import Client, StdioServerParameters

    command = StdioServerParameters(
        command=sys.executable, args=["-c", program, *arguments], env=dict(environment)
    )
    async with Client(command, cache=None) as client:
        await client.list_tools()
        yield client


async def _figures(root: str, what: str, environment: Any, rounds: int) -> list[Figure]:
    with tempfile.NamedTemporaryFile() as took:
        work = Work(took.fileno())
        async with AsyncExitStack() as stack:
            ours = await stack.enter_async_context(_client(OURS, environment, root, took.name))
            peer = await stack.enter_async_context(_client(TRIVIAL, environment))
            listed = await ours.call_tool("list_skills", {"limit": 1})
            name = listed.structured_content["skills"][0]["id"]
            jobs = {
                "load_skill": {"name": name},
                "list_skills": {"limit": 5},
                "skill_evaluate": {"text": QUERY, "files": ["report.pdf"]},
                "why_skill": {"name": name, "query": QUERY},
            }
            return [
                await _figure(tool, arguments, what, ours, peer, work, rounds)
                for tool, arguments in jobs.items()
            ]


async def _figure(
    tool: str,
    arguments: dict[str, Any],
    what: str,
    ours: Any,
    peer: Any,
    work: Work,
    rounds: int,
) -> Figure:
    answer = await ours.call_tool(tool, arguments)
    assert not answer.is_error, answer.content[0].text
    size = _size(answer)
    samples = await _turns(
        lambda: ours.call_tool(tool, arguments),
        lambda: peer.call_tool("trivial", {"size": size}),
        work,
        rounds,
    )
    ratios = tuple(each.less / each.peer for each in samples)
    inside = statistics.median(each.whole - each.less for each in samples)
    return Figure(
        f"{tool}, {what}: call less its work",
        f"{duration(statistics.median(each.whole for each in samples))} wall, of it"
        f" {duration(inside)} {tool} itself",
        f"{duration(statistics.median(each.peer for each in samples))} wall: a tool that returns"
        f" {size:,} characters twice",
        Ratios(ratios),
        TARGET,
    )


def _size(answer: Any) -> int:
    """Return half the characters of a result: the trivial tool's text comes twice, as text and
    structured.
    """
    structured = json.dumps(answer.structured_content, ensure_ascii=False, separators=(",", ":"))
    return (len(answer.content[0].text) + len(structured)) // 2


class Work:
    """What the server wrote of the time that its use cases took."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def seconds(self) -> float:
        """Return the seconds that were written since this was asked last."""
        data = os.read(self._descriptor, 65_536)
        return sum(each for (each,) in struct.iter_unpack("d", data))


class Sample(NamedTuple):
    """A quick call of a round, in seconds."""

    whole: float
    less: float
    """Of the same calls: without the use case."""
    peer: float


async def _turns(ours: Call, peer: Call, work: Work, rounds: int) -> list[Sample]:
    """Return the wall times of quick calls in each round; calls alternate."""
    samples = []
    await ours()
    await peer()
    work.seconds()
    for _ in range(rounds):
        whole, less, others = [], [], []
        for _ in range(CALLS):
            whole.append(await _wall(ours))
            less.append(whole[-1] - work.seconds())
            others.append(await _wall(peer))
        samples.append(Sample(_quick(whole), _quick(less), _quick(others)))
    return samples


async def _wall(call: Call) -> float:
    start = time.perf_counter()
    await call()
    return time.perf_counter() - start


def _quick(seconds: list[float]) -> float:
    return sorted(seconds)[len(seconds) // 10]
