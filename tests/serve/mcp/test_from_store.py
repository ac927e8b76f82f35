"""MCP over a catalog store: the same tools, resources and entries as from files, and no file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from skillyard import Reference
from skillyard.serve.mcp.server import SkillServer
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.logging import Log
from skillyard.store.values import Submission
from tests.serve.http.local_server import request
from tests.serve.mcp.local_servers import (
    LIBRARY,
    Serving,
    ask,
    document,
    eventually,
    options_of,
    raw,
    run,
    serving,
)
from tests.store.node.nodes import publish_tree, store_in
from tests.store.skills import skill
from tests.tables import for_each

FILES: dict[str, str | bytes] = {
    **LIBRARY,
    "AGENTS.md": "Always on.\n",
    ".skills/single.md": document("single", "A single document."),
}
SECRET = "the-secret-of-this-machine"


def stored(folder: Path, **changes: Any) -> Any:
    return serving(
        folder / "nowhere", {}, store=f"sqlite:///{folder}/store.db",
        state_dir=str(folder / "node"), **changes,
    )  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Serving]]:
    """A server of a store, and one of the files that were published to it."""
    folder = tmp_path_factory.mktemp("both")
    with store_in(folder) as store:
        publish_tree(store, folder / "skills", FILES, tenant="acme")
    with stored(folder) as one, serving(folder / "skills") as other:
        yield one, other
        for server in (one, other):
            assert [line for line in server.lines() if line["event"] == "failure"] == []


@for_each(
    ("tool", "arguments"),
    [
        ("skill_evaluate", {"text": "extract tables from a pdf"}),
        ("search_skills", {"query": "deploy"}),
        ("get_skill", {"source": "local", "skill_id": "pdf-tables"}),
    ],
)
def test_tools_answer_as_from_files(
    both: tuple[Serving, Serving], tool: str, arguments: dict[str, Any]
) -> None:
    one, other = (server.call(tool, arguments) for server in both)
    assert (one.is_error, other.is_error) == (False, False)
    assert one.structured_content is not None
    assert other.structured_content is not None
    assert one.structured_content.keys() == other.structured_content.keys()
    names = [json.dumps(each.structured_content).count("pdf-tables") for each in (one, other)]
    assert bool(names[0]) == bool(names[1])


def test_the_list_names_the_same_skills_and_addresses(both: tuple[Serving, Serving]) -> None:
    cards = [server.call("list_skills", {"limit": 50}).structured_content for server in both]
    assert cards[0] is not None
    assert cards[1] is not None
    told = [
        [(each["name"], each["id"], each["uri"], each["digest"]) for each in shown["skills"]]
        for shown in cards
    ]
    assert told[0] == told[1]
    origins = {each["name"]: each["origin"] for each in cards[0]["skills"]}
    assert origins["pdf-tables"] == "catalog store: acme/pdf-tables"


def test_a_loaded_skill_lists_the_texts_that_were_published(both: tuple[Serving, Serving]) -> None:
    found = both[0].call("load_skill", {"name": "pdf-tables"}).structured_content
    assert found is not None
    assert [file["path"] for file in found["files"]] == [
        "references/layout.md", "scripts/cut.py",
    ]  # fmt: skip
    assert found["uri"] == "skill://pdf-tables/SKILL.md"
    assert "Use a ruler." in found["content"]
    assert "store:" not in found["content"].replace("catalog store:", "")


def test_entries_are_those_of_the_files_but_for_what_has_no_text(
    both: tuple[Serving, Serving],
) -> None:
    async def entries(client: Client) -> list[Any]:
        return list((await ask(client, "skills/list"))["skills"])

    one, other = ({e["uri"]: e for e in server.asked(entries)} for server in both)
    assert one.keys() == other.keys() == {
        "skill://deploy/SKILL.md", "skill://pdf-tables/SKILL.md", "skill://single/SKILL.md",
        "skill://unit-tests/SKILL.md",
    }  # fmt: skip
    for uri, entry in one.items():
        assert entry["frontmatter"] == other[uri]["frontmatter"]
        texts = [r for r in other[uri]["resources"] if not r["uri"].endswith(".png")]
        assert entry["resources"] == texts


def test_every_resource_is_the_bytes_that_its_digest_covers(both: tuple[Serving, Serving]) -> None:
    async def read(client: Client) -> int:
        count = 0
        for entry in (await ask(client, "skills/list"))["skills"]:
            for each in entry["resources"]:
                (found,) = (await client.read_resource(each["uri"])).contents
                assert isinstance(found, TextResourceContents)
                data = found.text.encode()
                assert f"sha256:{hashlib.sha256(data).hexdigest()}" == each["digest"]
                assert len(data) == each["size"]
                assert data.decode() in FILES.values()
                count += 1
        return count

    assert both[0].asked(read) == 6


def test_directories_and_templates_and_prompts_answer(both: tuple[Serving, Serving]) -> None:
    async def work(client: Client) -> tuple[list[str], list[str]]:
        folder = await ask(client, "resources/directory/read", uri="skill://pdf-tables")
        prompts = (await client.list_prompts()).prompts
        return sorted(each["name"] for each in folder["resources"]), [p.name for p in prompts]

    (names, prompts), (_, others) = (server.asked(work) for server in both)
    assert names == ["pdf-tables", "references", "scripts"]
    assert prompts == others


def test_skills_of_one_name_are_told_apart_by_where_they_stand(tmp_path: Path) -> None:
    def one(text: str, **fields: Any) -> Any:
        lines = f"name: pdf\ndescription: Says {text}.\n"
        return skill("pdf", text, frontmatter=lines, origin="agentskills", **fields)

    with store_in(tmp_path) as store:
        store.publish([one("a"), one("b", source="owner/repo")], tenant="acme", publisher="ci")
        store.publish([one("c")], tenant="acme", namespace="team/x", publisher="ci")
        store.publish([Submission(one("d"), place="../d e/pdf")], tenant="beta", publisher="ci")
        with stored(tmp_path) as server:

            async def uris(client: Client) -> dict[str, str]:
                listed = (await ask(client, "skills/list"))["skills"]
                return {e["uri"]: e["frontmatter"]["description"][5] for e in listed}

            assert server.asked(uris) == {
                "skill://acme/pdf/SKILL.md": "a",
                "skill://acme/owner/repo/pdf/SKILL.md": "b",
                "skill://acme/team/x/pdf/SKILL.md": "c",
                "skill://beta/d%20e/pdf/SKILL.md": "d",
            }


def test_clients_hear_of_a_generation(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.publish([skill("first")], tenant="acme", publisher="ci")
        with stored(tmp_path) as server:

            async def work(client: Client) -> None:
                async def has(name: str) -> bool:
                    return not (await client.call_tool("load_skill", {"name": name})).is_error

                assert await has("first")
                assert not await has("second")
                store.publish([skill("second")], tenant="acme", publisher="ci")
                await eventually(lambda: has("second"))
                store.rollback(1, tenant="acme", publisher="ci")

                async def gone() -> bool:
                    return not await has("second")

                await eventually(gone)

            server.asked(work)


def test_subscribers_hear_which_skill_changed(tmp_path: Path) -> None:
    def version(text: str) -> Any:
        lines = f"name: first\ndescription: Says {text}.\n"
        return skill("first", text, frontmatter=lines, origin="agentskills")

    with store_in(tmp_path) as store:
        store.publish([version("one"), skill("other")], tenant="acme", publisher="ci")
        with stored(tmp_path) as server:

            async def work(client: Client) -> None:
                uris = ["skill://first/SKILL.md"]
                async with client.listen(
                    resources_list_changed=True, resource_subscriptions=uris
                ) as (stream):
                    store.publish([version("two")], tenant="acme", publisher="ci")
                    heard: list[Any] = []
                    async for event in stream:
                        heard.append(event)
                        if getattr(event, "uri", None) == uris[0]:
                            break
                    assert len(heard) <= 2
                (found,) = (await client.read_resource(uris[0])).contents
                assert isinstance(found, TextResourceContents)
                assert "Says two." in found.text

            server.asked(work)


def test_probes_answer_without_a_token(tmp_path: Path) -> None:
    with store_in(tmp_path), stored(tmp_path, token="secret") as server:
        for path, said in (("/livez", b"alive\n"), ("/readyz", b"ready\n")):
            found = raw(server.port, request("GET", path, host="evil.example"))
            assert (found.status, found.body) == (200, said)
        assert raw(server.port, request("GET", "/mcp")).status in (401, 403, 421)


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
