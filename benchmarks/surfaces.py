"""Every surface with its defaults, on the labelled requests of ``examples/``: who finds the skill?

``SKILLYARD_BENCH_REQUESTS`` names other requests, a file in the form of
``examples/requests.jsonl``, and ``SKILLYARD_BENCH_LIBRARY`` the folder of their skills.

``select`` and ``rank`` are the measure; all others are asked as their users ask them: over real
HTTP, by the SDK's MCP client, and the prompt hook as a process of its own for each request. A
surface abstains where it chooses nothing, or says that nothing it found fits.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.choices import EXAMPLES, Labelled, of_examples
from benchmarks.limits import Bound, Row, RunSettings, command, from_options
from benchmarks.measure import Figure, Options, Skipped
from benchmarks.service_process import check_machine, environment_in, served

SUMMARY = "the right skill first, a wrong one, or none: each surface, on 206 labelled requests"
SKILLS = Path(os.environ.get("SKILLYARD_BENCH_LIBRARY", EXAMPLES / "skills"))
REQUESTS = os.environ.get("SKILLYARD_BENCH_REQUESTS", "")
DOCUMENTED = 200
"""Characters of a request that GET /search takes, as Skyll's does; a client has to cut it."""
LEAST = 0.95
"""Of what ``select`` (of what chooses) or ``rank`` (of what ranks) puts first."""


class Counts(NamedTuple):
    """What a surface made of all requests."""

    right: int
    wrong: int
    abstained: int
    """Of the requests that nothing fits."""


def run(options: Options) -> Iterator[Row]:
    """Yield the figures for ``python -m benchmarks``."""
    yield from measured(from_options(options))


def measured(settings: RunSettings) -> Iterator[Row]:
    """Yield one row a surface."""
    check_machine()
    requests = list(of_examples(Path(REQUESTS) if REQUESTS else None))
    answerable = sum(bool(request.right) for request in requests)
    nothing = len(requests) - answerable
    yield Figure("requests", f"{answerable} with a right skill, {nothing} that nothing fits")
    choosing = _counts(requests, _select())
    ranking = _counts(requests, _rank())
    yield Figure("select", _counts_text(choosing, nothing))
    yield Figure("rank, which never abstains", _counts_text(ranking, nothing))
    for name, answers in _in_process().items():
        yield _row(name, _counts(requests, answers), choosing, nothing)
    with tempfile.TemporaryDirectory() as folder:
        environment = environment_in(folder)
        with served(SKILLS, folder, environment) as server:
            for name, answers in _served(server.port).items():
                yield _row(name, _counts(requests, answers), choosing, nothing)
        hook = _counts(requests, _hook(environment))
        yield _row("hook claude-code", hook, choosing, nothing)


Answers = Callable[[str], str | None]
"""The skill that a surface names first for a request, None where it abstains."""


def _counts(requests: Sequence[Labelled], first: Answers) -> Counts:
    counts = Counter(request.outcome(first(request.text) or "") for request in requests)
    return Counts(counts["right"], counts["wrong"] + counts["fires"], counts["rests"])


def _counts_text(counts: Counts, nothing: int) -> str:
    return (
        f"right first {counts.right}, wrong skill {counts.wrong}, abstains where nothing fits"
        f" {counts.abstained} of {nothing}"
    )


def _row(name: str, counts: Counts, choosing: Counts, nothing: int) -> Bound:
    missed = max(0.0, 1.0 - counts.right / max(1, choosing.right))
    note = _counts_text(counts, nothing)
    return Bound(f"{name}: right answers of select missed", missed, 1.0 - LEAST, note=note)


def _catalog() -> Any:
    import skillyard as sy

    return sy.load_catalog(SKILLS)


def _select() -> Answers:
    import skillyard as sy

    catalog = _catalog()

    def first(text: str) -> str | None:
        selected = sy.select(catalog, text).selected
        return selected[0].skill.name if selected else None

    return first


def _rank() -> Answers:
    import skillyard as sy

    catalog = _catalog()

    def first(text: str) -> str | None:
        ranked = sy.rank(catalog, text, limit=1)
        return ranked[0].skill.name if ranked else None

    return first


def _in_process() -> dict[str, Answers]:
    import skillyard as sy
    from skillyard.install.sources.settings import Settings

    catalog = _catalog()
    coordinator = sy.ContextCoordinator(catalog, _Everything())
    settings = Settings(enabled=("local",), shipped_registry=False)

    def inject(text: str) -> str | None:
        match = sy.inject(text, catalog).match
        return None if match is None else match.skill.name

    def block(text: str) -> str | None:
        block = sy.select_prompt_block(catalog, text)
        return None if block is None else block[1].skill.name

    def resolve(text: str) -> str | None:
        context = coordinator.resolve([sy.ByQuery(text)])
        return None if context is None else context.skill.name

    def search(text: str) -> str | None:
        async def search() -> Any:
            async with sy.SearchService(
                ["local"], settings=settings, catalog=catalog, cache=False
            ) as service:
                return await service.search(text)

        result = asyncio.run(search())
        return None if result.abstained else result.skills[0].skill.name

    return {"inject": inject, "block": block, "coordinator": resolve, "SearchService": search}


class _Everything:
    """A host with every tool."""

    def resolve(self, name: str) -> object | None:
        return name

    def available_tools(self) -> Sequence[str]:
        return ()


def _served(port: int) -> dict[str, Answers]:
    try:
        import httpx2
        from mcp import Client
    except ModuleNotFoundError as error:
        raise Skipped(f"not installed: {error.name}") from None
    base = f"http://127.0.0.1:{port}"
    http = httpx2.Client(base_url=base, timeout=60)

    def search(text: str) -> str | None:
        query = {"q": text[:DOCUMENTED], "include_content": "false"}
        shape = http.get("/search", params=query).json()
        return None if shape["abstained"] else shape["skills"][0]["name"]

    def select(text: str) -> str | None:
        selected = http.post("/select", json={"text": text}).json()["selected"]
        return selected[0]["name"] if selected else None

    def tool(name: str, argument: str) -> Callable[[str], Any]:
        def answer(text: str) -> Any:
            async def call() -> Any:
                async with Client(f"{base}/mcp") as client:
                    return await client.call_tool(name, {argument: text})

            return asyncio.run(call()).structured_content

        return answer

    mcp_select, mcp_search = tool("select_skill", "text"), tool("search_skills", "query")

    def select_skill(text: str) -> str | None:
        selected = mcp_select(text)["selected"]
        return selected[0]["name"] if selected else None

    def search_skills(text: str) -> str | None:
        result = mcp_search(text[:500])
        return None if result["abstained"] else result["skills"][0]["name"]

    return {
        "GET /search": search,
        "POST /select": select,
        "MCP select_skill": select_skill,
        "MCP search_skills": search_skills,
    }


def _hook(environment: dict[str, str]) -> Answers:
    line = (sys.executable, "-m", "skillyard", "hook", "claude-code", "--budget-ms", "5000")
    line += ("--root", str(SKILLS))

    def first(text: str) -> str | None:
        payload = {"prompt": text, "cwd": os.sep, "hook_event_name": "UserPromptSubmit"}
        process = subprocess.run(
            line,
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=environment,
            check=True,
        )
        if not process.stdout:
            return None
        output = json.loads(process.stdout)["hookSpecificOutput"]["additionalContext"]
        named = re.search("^skill: (.*)$", output, re.MULTILINE)
        return None if named is None else named[1]

    for _ in range(600):  # the first answer starts to make the hook's own index
        if first("Which of the commits in between broke the export?") is not None:
            break
    return first


def main(arguments: Sequence[str] | None = None) -> int:
    """Run this benchmark alone."""
    return command(Path(__file__).stem, SUMMARY, measured, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
