"""What MCP costs: a call of our tools against a trivial tool of the official SDK, over stdio.

Ours: ``skill_evaluate``, ``load_skill`` and ``list_skills`` of a server over a library. The peer:
one tool of the same SDK's high-level server that returns a text, and a result of the same shape.
Both are processes of their own, each spoken to by the SDK's client over one kept connection, in
turns; what is timed is the call as the client sees it, less the work that the tool is for (the
use case of the same library, timed in this process). The library of 10,000 skills is the corpus.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.corpus import corpus_file, records, written_out
from benchmarks.measure import (
    Figure,
    Options,
    Ratios,
    Skipped,
    child_environment,
    duration,
)

SUMMARY = "a call of our MCP tools over the SDK's trivial tool, at the same result size"
ROUNDS = 9
CALLS = 60
"""Calls of one round, in turns; the round's figure is the tenth part that was quickest, at its
slowest: two processes on a busy machine wait for each other at random."""
TARGET = 1.3

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
import sys
from skillyard.http import ServiceOptions
from skillyard.mcp import serve_stdio
from skillyard.sources.settings import Settings
serve_stdio(ServiceOptions(roots=(sys.argv[1],), local_only=True, log_format="none",
                           settings=Settings(enabled=(), shipped_registry=False)))
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
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(_client(OURS, environment, root))
        peer = await stack.enter_async_context(_client(TRIVIAL, environment))
        listed = await ours.call_tool("list_skills", {"limit": 1})
        name = listed.structured_content["skills"][0]["id"]
        jobs = {
            "load_skill": {"name": name},
            "list_skills": {"limit": 5},
            "skill_evaluate": {"text": QUERY, "files": ["report.pdf"]},
            "why_skill": {"name": name, "query": QUERY},
        }
        found = []
        work = await asyncio.to_thread(_work, root, jobs)
        for tool, arguments in jobs.items():
            answer = await ours.call_tool(tool, arguments)
            assert not answer.is_error, answer.content[0].text
            # The text comes twice, as text and structured; so does the trivial tool's.
            size = len(answer.content[0].text)
            samples = await _turns(
                {
                    "ours": lambda tool=tool, arguments=arguments: ours.call_tool(tool, arguments),
                    "peer": lambda size=size: peer.call_tool("trivial", {"size": size}),
                },
                rounds,
            )
            less = [max(0.0, each - work[tool]) for each in samples["ours"]]
            ratio = Ratios(tuple(a / b for a, b in zip(less, samples["peer"], strict=True)))
            middle = statistics.median(samples["ours"])
            found.append(
                Figure(
                    f"{tool}, {what}: call less its work",
                    f"{duration(middle)} wall, of it {duration(work[tool])} {tool} itself",
                    f"{duration(statistics.median(samples['peer']))} wall: a tool that returns"
                    f" {size:,} characters",
                    ratio,
                    TARGET,
                )
            )
        return found


async def _turns(calls: dict[str, Call], rounds: int) -> dict[str, list[float]]:
    """Return, for each, the wall time of a quick call in each round; calls alternate."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        await call()
    for _ in range(rounds):
        taken: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(CALLS):
            for name, call in calls.items():
                start = time.perf_counter()
                await call()
                taken[name].append(time.perf_counter() - start)
        for name, each in taken.items():
            samples[name].append(sorted(each)[len(each) // 10])
    return samples


def _work(root: str, jobs: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Return how long the use case of each tool takes here, over the same library."""
    from skillyard.catalog import load_catalog
    from skillyard.ranking.query import Query
    from skillyard.service import evaluate_skills, show_skill, why_skill

    catalog = load_catalog(root)
    evaluate = jobs["skill_evaluate"]
    why = jobs["why_skill"]
    work: dict[str, Callable[[], Any]] = {
        "load_skill": lambda: show_skill(catalog, jobs["load_skill"]["name"]).to_dict(),
        "list_skills": lambda: None,  # a page of a list that is kept: all of it is overhead
        "skill_evaluate": lambda: evaluate_skills(catalog, evaluate["text"], evaluate["files"]),
        "why_skill": lambda: why_skill(catalog, why["name"], Query(why["query"])).to_dict(),
    }
    return {name: _median(job) for name, job in work.items()}


def _median(job: Callable[[], Any]) -> float:
    job()
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        job()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)
