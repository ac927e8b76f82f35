"""One folder has one number of skills, whichever surface is asked."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard.cli import main
from skillyard.install.policy.library import open_catalog
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.serve.http.local_server import running
from tests.serve.mcp.local_servers import in_process, shows
from tests.shared_data import REPOSITORY
from tests.store.inputs import publish
from tests.store.node.nodes import store_in, synced
from tests.worked_examples.making import document

EXAMPLES = REPOSITORY / "examples" / "skills"
WITH_COPIES = {
    ".claude/skills/pdf/SKILL.md": document("pdf"),
    ".agents/skills/pdf/SKILL.md": document("pdf"),
    "more/pdf/SKILL.md": document("pdf"),
    "csv/SKILL.md": document("csv", "Cleans a csv file."),
    ".skills/csv.md": document("csv", "Cleans a csv file, in short."),
    "wipe/SKILL.md": document("wipe", extra="trigger: true\n"),
    "lost/SKILL.md": document("lost", "Needs more.", extra="requires:\n  skills: nowhere\n"),
    "AGENTS.md": "# Be kind\n",
    "broken/SKILL.md": "no frontmatter",
}


def skills_in(text: str) -> set[int]:
    """Return every number that stands before the word skills."""
    return {int(n.replace(",", "")) for n in re.findall(r"(\d[\d,]*) skills?\b", text)}


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> str:
        capsys.readouterr()
        assert main(arguments) in (0, 1)  # 1: an index of young files may be stale
        return capsys.readouterr().out

    return call


def of_commands(root: str, cli: Any) -> dict[str, Any]:
    listed = json.loads(cli("list", root, "--json"))
    query = ("clean a csv file", "--root", root)
    return {
        "list": skills_in(cli("list", root)),
        "list --json": {listed["counts"]["skills"]},
        "cards of list": {
            sum(each["layout"] != "convention" for each in listed["skills"]),
        },
        "rank": skills_in(cli("rank", *query)),
        "rank --scorer relevance": skills_in(cli("rank", *query, "--scorer", "relevance")),
        "select": skills_in(cli("select", *query)),
        "index build": skills_in(cli("index", "build", root)),
        "index status": skills_in(cli("index", "status", root)),
        "index status --json": {json.loads(cli("index", "status", root, "--json"))["skills"]},
    }


def of_the_service(root: Path) -> dict[str, Any]:
    with running(root, local_only=True) as server:
        health = server.get("/health").json()["catalog"]
        metrics = server.get("/metrics").text
        home = server.get("/", headers={"Accept": "text/html"}).text
        hits = server.get("/search", params={"q": "do pdf csv"}).json()["skills"]
    assert len({each["id"] for each in hits}) == len({each["title"] for each in hits}) == len(hits)
    (gauge,) = re.findall(r"^skillyard_catalog_skills (\d+)\.0$", metrics, re.MULTILINE)
    return {
        "/health": {health["skills"], health["counts"]["skills"]},
        "/metrics": {int(gauge)},
        "home page": skills_in(re.sub("<[^>]*>", "", home)),
    }


def of_mcp(root: Path) -> dict[str, Any]:
    async def ask() -> dict[str, Any]:
        async with in_process(root) as (client, _):
            listed = await client.call_tool("list_skills", {})
            stats = await client.call_tool("get_cache_stats", {})
        assert listed.structured_content is not None
        assert stats.structured_content is not None
        return {
            "list_skills": skills_in(shows(listed).split("\n")[0]),
            "list_skills, structured": {listed.structured_content["counts"]["skills"]},
            "get_cache_stats": {stats.structured_content["catalog"]["skills"]},
        }

    return asyncio.run(ask())


def of_a_store(root: Path, folder: Path) -> dict[str, Any]:
    with store_in(folder) as store:
        done = publish(store, root)
        held = store.status().skills
    node = synced(f"sqlite:///{folder}/store.db", folder / "node")
    return {"store publish": {done.added}, "store status": {held}, "node": {node.counts.skills}}


@requirement("catalog:counts")
@pytest.mark.parametrize(
    "copies", [pytest.param(False, marks=pytest.mark.slow, id="examples"), True]
)
def test_every_surface_counts_the_same_skills(
    copies: bool, tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    root = write_tree(tmp_path / "root", WITH_COPIES) if copies else EXAMPLES
    catalog = sy.load_catalog(root)
    counts = catalog.counts
    assert counts == ((5, 1, 1, 2, 1, 1) if copies else (39, 2, 1, 0, 2, 0))
    assert counts.files == len(catalog)
    everything = sy.SelectionPolicy(top_k=100, min_score=-1)
    selected = sy.select(catalog, "csv", everything, scorer="overlap").selected
    assert counts.selectable == len([s for s in selected if s.skill.origin != "convention"])
    assert open_catalog(root).counts == counts
    (tmp_path / "store").mkdir()
    surfaces = {
        "index": {open_catalog(root).counts.skills},
        **of_commands(str(root), cli),
        **of_the_service(root),
        **of_mcp(root),
        **of_a_store(root, tmp_path / "store"),
    }
    assert surfaces == {name: {counts.skills} for name in surfaces}
