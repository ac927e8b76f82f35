"""Rank by the new scorer on every surface; print each that puts the right skill first."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client as McpClient
from service import command_line, served

import skillyard as sy
from skillyard.serve.client import Client

LIBRARY = os.environ["SKILLYARD_LIBRARY"]
REQUEST = "please review this terraform plan"
RIGHT = "terraform-plan-review"
SCORER = "name-words"


def in_python() -> Iterator[tuple[str, Any]]:
    catalog = sy.load_catalog(LIBRARY)
    assert SCORER in sy.scorers.scorer_names()
    yield "python", sy.rank(catalog, REQUEST, scorer=SCORER)[0].skill.name


def on_the_command_line() -> Iterator[tuple[str, Any]]:
    options = ["--scorer", SCORER, "--root", LIBRARY]
    yield "rank", command_line("rank", REQUEST, *options)["matches"][0]["name"]
    yield "select", command_line("select", REQUEST, *options)["selected"][0]["name"]
    yield "why", command_line("why", RIGHT, REQUEST, *options)["match"]["name"]
    yield "inject", command_line("inject", REQUEST, *options)["match"]["name"]
    queries = Path("queries.jsonl")
    queries.write_text(json.dumps({"id": "q", "query": REQUEST}) + "\n", encoding="utf-8")
    files = ["--skills", LIBRARY, "--queries", str(queries), "--out", "run.json"]
    command_line("bench", "run", *files, "--scorer", SCORER)
    run = json.loads(Path("run.json").read_text(encoding="utf-8"))
    yield "bench", run["q"]["results"][0][0]


def in_the_service() -> Iterator[tuple[str, Any]]:
    with served(LIBRARY) as address:
        http = httpx2.Client(base_url=address, timeout=60, trust_env=False)
        asked = {"q": REQUEST, "scorer": SCORER}
        yield "GET/rank", http.get("/rank", params=asked).json()["matches"][0]["name"]
        asked = {"text": REQUEST, "scorer": SCORER}
        yield "POST/select", http.post("/select", json=asked).json()["selected"][0]["name"]
        asked = {"q": REQUEST, "name": RIGHT, "scorer": SCORER}
        yield "GET/why", http.get("/why", params=asked).json()["match"]["name"]
        with Client(address) as client:
            yield "client", client.rank(REQUEST, scorer=SCORER).matches[0].name
        yield "mcp", asyncio.run(by_mcp(address))


async def by_mcp(address: str) -> Any:
    async with McpClient(f"{address}/mcp") as client:
        answer = await client.call_tool("select_skill", {"text": REQUEST, "scorer": SCORER})
    return answer.structured_content["selected"][0]["name"]


if __name__ == "__main__":
    for surfaces in (in_python(), on_the_command_line(), in_the_service()):
        for surface, name in surfaces:
            assert name == RIGHT, f"{surface}: {name}"
            print(surface)
