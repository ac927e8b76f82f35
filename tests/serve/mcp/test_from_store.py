"""MCP over a catalog store: the same tools, resources and entries as from files, and no file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from skillyard.serve.mcp.server import SkillServer
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.logging import Log
from skillyard.store.values import Submission
from skillyard.types import Reference
from tests.serve.mcp.local_servers import ask, eventually, options_of, run
from tests.store.node.nodes import store_in
from tests.store.skills import skill

SECRET = "the-secret-of-this-machine"


def test_no_file_of_this_machine_is_named_or_read_for_a_stored_skill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path of a stored skill looks like one below the current folder, where one lies here."""
    for place in ("acme/etc/SKILL.md", "acme/etc/a.md", "acme/etc/secret.md"):
        path = tmp_path / "store:" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    texts = [Reference(path, path, "theirs") for path in ("a.md", "../up.md", "./b.md", "/c.md")]
    with store_in(tmp_path) as store:
        store.publish(
            [
                Submission(
                    skill(
                        "folder", path="/etc/SKILL.md", origin="agentskills", references=texts,
                        frontmatter="name: folder\ndescription: Says one.\n",
                    ),
                    place="etc/SKILL.md",
                )
            ],
            tenant="acme", publisher="ci",
        )  # fmt: skip

    async def work() -> None:
        options = options_of(
            tmp_path / "nowhere",
            store=f"sqlite:///{tmp_path}/store.db",
            state_dir=str(tmp_path / "node"),
        )
        service = AppContext(options, (), Log("none"), show_folders=True)
        async with Client(SkillServer(service), cache=None) as client:

            async def held() -> bool:
                return service.follower.snapshot is not None

            await eventually(held)
            loaded = await client.call_tool("load_skill", {"name": "folder"})
            assert not loaded.is_error
            (entry,) = (await ask(client, "skills/list"))["skills"]
            uris = [each["uri"] for each in entry["resources"]]
            assert uris == ["skill://folder/SKILL.md", "skill://folder/a.md"]
            (found,) = (await client.read_resource(uris[1])).contents
            assert isinstance(found, TextResourceContents)
            assert found.text == "theirs"
            for text in (loaded.model_dump_json(), json.dumps(entry)):
                assert SECRET not in text
                assert str(tmp_path) not in text
            for rest in ("secret.md", "../up.md", "b.md", "%2e%2e/up.md", "c.md"):
                with pytest.raises(MCPError):
                    await client.read_resource(f"skill://folder/{rest}")
        await service.close()

    run(work())
