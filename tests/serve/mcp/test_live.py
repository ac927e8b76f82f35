"""What the files say is served: edits and deletions within a second, no broken edit."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.subscriptions import listen
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from skillyard.install.policy.library import open_catalog
from skillyard.serve.runtime import follower as freshness
from skillyard.serve.runtime.follower import FolderFollower
from skillyard.serve.runtime.logging import Log
from tests.serve.mcp.local_servers import (
    LIBRARY,
    ask,
    called,
    connected,
    document,
    eventually,
    in_process,
    options_of,
    over_stdio,
    run,
    serving,
    shows,
    write_tree,
)

WITHIN_S = 1.0
"""The promise."""
BROKEN = "---\nname: deploy\ndescription: [\n---\nNever served.\n"


@asynccontextmanager
async def live(tmp_path: Path) -> AsyncIterator[tuple[Client, Path]]:
    root = write_tree(tmp_path / "skills", LIBRARY)
    async with in_process(root) as (client, _):
        await called(client, "list_skills")
        yield client, root


async def loaded(client: Client, name: str) -> str:
    return shows(await called(client, "load_skill", {"name": name}))


def test_an_edit_is_served_within_a_second(tmp_path: Path) -> None:
    async def work() -> None:
        async with live(tmp_path) as (client, root):
            await loaded(client, "deploy")
            (root / "deploy/SKILL.md").write_text(document("deploy", "d", "Edited."))

            async def edited() -> bool:
                return "Edited." in await loaded(client, "deploy")

            assert await eventually(edited) < WITHIN_S

    run(work())


def test_a_new_skill_is_found_within_a_second(tmp_path: Path) -> None:
    async def work() -> None:
        async with live(tmp_path) as (client, root):
            write_tree(root, {"new/SKILL.md": document("new", "Knits woollen socks.")})

            async def found() -> bool:
                result = await called(client, "skill_evaluate", {"text": "knits woollen socks"})
                return bool(result.structured_content["results"])

            assert await eventually(found) < WITHIN_S
            entries = (await ask(client, "skills/list"))["skills"]
            assert "skill://new/SKILL.md" in [entry["uri"] for entry in entries]

    run(work())


def test_a_deletion_is_seen_within_a_second(tmp_path: Path) -> None:
    async def work() -> None:
        async with live(tmp_path) as (client, root):
            uri = "skill://deploy/SKILL.md"
            await loaded(client, "deploy")
            await ask(client, "skills/get", uri=uri)
            shutil.rmtree(root / "deploy")

            async def gone() -> bool:
                return "no skill is called" in await loaded(client, "deploy")

            assert await eventually(gone) < WITHIN_S
            with pytest.raises(MCPError):
                await ask(client, "skills/get", uri=uri)
            with pytest.raises(MCPError):
                await client.read_resource(uri)
            listing = await called(client, "list_skills")
            assert "deploy" not in [s["name"] for s in listing.structured_content["skills"]]

    run(work())


def test_a_broken_edit_is_named_with_its_reason_until_it_is_mended(tmp_path: Path) -> None:
    async def work() -> None:
        async with live(tmp_path) as (client, root):
            (root / "deploy/SKILL.md").write_text(BROKEN)

            async def told() -> bool:
                return "deploy/SKILL.md did not load" in await loaded(client, "deploy")

            assert await eventually(told) < WITHIN_S
            assert "Never served" not in await loaded(client, "deploy")
            listing = (await called(client, "list_skills")).structured_content
            assert listing["problems"][0]["path"] == "deploy/SKILL.md"
            assert "deploy" not in [card["name"] for card in listing["skills"]]
            (root / "deploy/SKILL.md").write_text(document("deploy", "d", "Mended."))

            async def mended() -> bool:
                return "Mended." in await loaded(client, "deploy")

            assert await eventually(mended) < WITHIN_S

    run(work())


def test_what_never_loaded_is_named_with_the_reason(tmp_path: Path) -> None:
    async def work() -> None:
        root = write_tree(tmp_path, {"deploy/SKILL.md": BROKEN, "a/SKILL.md": document("a")})
        async with in_process(root) as (client, _):
            result = await called(client, "load_skill", {"name": "deploy"})
            assert result.is_error
            assert "deploy/SKILL.md did not load" in shows(result)
            assert str(tmp_path) not in shows(result)

    run(work())


KINDS = ["resources", "prompts"]


@pytest.mark.parametrize("where", ["http", pytest.param("stdio", marks=pytest.mark.slow)])
def test_older_clients_are_told_that_the_lists_changed(tmp_path: Path, where: str) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)

    async def work(place: Any) -> None:
        told: list[str] = []

        async def note(message: Any) -> None:
            told.append(getattr(message, "method", ""))

        async with connected(place, "legacy", message_handler=note) as client:
            await client.list_resources()
            with pytest.warns(MCPDeprecationWarning):
                await client.session.subscribe_resource("skill://deploy/SKILL.md")
            write_tree(root, {"new/SKILL.md": document("new")})
            (root / "deploy/SKILL.md").write_text(document("deploy", "d", "Edited."))

            async def all_told() -> bool:
                wanted = {f"notifications/{kind}/list_changed" for kind in KINDS}
                return wanted <= set(told) and "notifications/resources/updated" in told

            assert await eventually(all_told) < WITHIN_S

    if where == "stdio":
        run(work(over_stdio(root)))
        return
    with serving(root) as served:
        run(work(served.url))


@pytest.mark.parametrize("where", ["http", pytest.param("stdio", marks=pytest.mark.slow)])
def test_newer_clients_hear_on_the_stream_that_they_opened(tmp_path: Path, where: str) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)

    async def work(place: Any) -> None:
        async with connected(place) as client:
            await client.list_resources()
            async with listen(
                client.session,
                resources_list_changed=True,
                resource_subscriptions=["skill://deploy/SKILL.md"],
            ) as stream:
                (root / "deploy/SKILL.md").write_text(document("deploy", "d", "Edited."))
                heard = []
                async with asyncio.timeout(WITHIN_S):
                    async for event in stream:
                        heard.append(type(event).__name__)
                        if len(heard) == 2:
                            break
            assert heard == ["ResourcesListChanged", "ResourceUpdated"]

    if where == "stdio":
        run(work(over_stdio(root)))
        return
    with serving(root) as served:
        run(work(served.url))


def test_a_change_of_a_resource_file_is_in_the_next_entry(tmp_path: Path) -> None:
    async def work() -> None:
        async with live(tmp_path) as (client, root):
            uri = "skill://pdf-tables/SKILL.md"
            before = (await ask(client, "skills/get", uri=uri))["skill"]["resources"]
            (root / "pdf-tables/references/layout.md").write_text("Rows first.\n")
            after = (await ask(client, "skills/get", uri=uri))["skill"]["resources"]
            changed = [b["uri"] for a, b in zip(before, after, strict=True) if a != b]
            assert changed == ["skill://pdf-tables/references/layout.md"]

    run(work())


def test_a_library_that_is_slow_to_look_at_answers_from_the_snapshot_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        root = write_tree(tmp_path / "skills", LIBRARY)
        now = [0.0]
        follower = FolderFollower(options_of(root), Log("none"), lambda: now[0])
        refreshes = []
        newer_snapshot = follower._newer_snapshot

        def slow(opened: Any) -> Any:
            refreshes.append(now[0])
            now[0] += 2.0  # what a refresh takes
            return newer_snapshot(opened)

        monkeypatch.setattr(follower, "_newer_snapshot", slow)
        try:
            snapshot = await follower.fresh()
            assert refreshes == [0.0]
            now[0] = 7.9  # four refreshes old, less a bit
            assert await follower.fresh() is snapshot
            assert refreshes == [0.0]
            now[0] = 8.1
            await follower.fresh()
            assert refreshes == [0.0, 8.1]
        finally:
            await follower.close()

    run(work())


def test_who_asks_while_the_index_is_made_is_told_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "PATIENCE_S", 0.01)
    monkeypatch.setattr(freshness, "LARGE_LIBRARY", 0)
    go_on = threading.Event()
    opened = open_catalog

    def slowly(*roots: Any, progress: Any, **options: Any) -> Any:
        while not go_on.wait(0.02):
            progress(100, 400)
        return opened(*roots, **options)

    monkeypatch.setattr(freshness, "open_catalog", slowly)

    async def work() -> None:
        async with in_process(write_tree(tmp_path / "skills", LIBRARY)) as (client, _):
            try:
                asked = {"text": "extract tables from a pdf"}
                refused = await client.call_tool("select_skill", asked)
                assert refused.is_error
                assert "100 of 400 files are done; ask again in" in shows(refused)
                go_on.set()

                async def chosen() -> bool:
                    return "pdf-tables" in shows(await client.call_tool("select_skill", asked))

                await eventually(chosen)
            finally:
                go_on.set()

    run(work())
