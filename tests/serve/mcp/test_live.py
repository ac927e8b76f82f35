"""What the files say is served: edits and deletions within a second, no broken edit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.subscriptions import listen
from mcp.shared.exceptions import MCPDeprecationWarning

from tests.serve.mcp.local_servers import (
    LIBRARY,
    called,
    connected,
    document,
    eventually,
    in_process,
    over_stdio,
    run,
    serving,
    shows,
    write_tree,
)

WITHIN_S = 1.0
"""The promise."""


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
