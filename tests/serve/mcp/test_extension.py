"""The Skills extension over HTTP: entries, digests, pages, directories, and what is no skill."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import BlobResourceContents, TextResourceContents

from skillyard.serve.mcp import extension, manifests
from tests.requirements import requirement
from tests.serve.mcp.local_servers import (
    LIBRARY,
    Serving,
    ask,
    document,
    in_process,
    run,
    serving,
    write_tree,
)
from tests.tables import for_each

EXTENSION = "io.modelcontextprotocol/skills"
UNKNOWN = (
    "skill://nope/SKILL.md", "skill://pdf-tables", "skill://pdf-tables/", "pdf-tables/SKILL.md",
    "skill://pdf-tables/skill.md", "skill://pdf-tables/references/layout.md", "", "x" * 1_000_000,
    "skill://../secret.txt/SKILL.md", "file:///etc/passwd", "skill://pdf%2Dtables/SKILL.md",
    "https://skills.example/pdf-tables/SKILL.md", "skill://pdf-tables/SKILL.md?x",
)  # fmt: skip
NO_FILES = (
    "skill://pdf-tables/../secret.txt", "skill://pdf-tables/%2e%2e/secret.txt",
    "skill://pdf-tables/references%2Flayout.md", "skill://pdf-tables/references//layout.md",
    "skill://pdf-tables/references/./layout.md", "skill://pdf-tables/references",
    "skill://pdf-tables/none.md", "skill://pdf-tables", "skill://", "file:///etc/passwd",
    "skill://pdf-tables/references/l%61yout.md", "skill://pdf-tables/references/layout.md#a",
)  # fmt: skip


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def data_of(name: str) -> bytes:
    found = LIBRARY[name]
    return found.encode() if isinstance(found, str) else found


def everything(served: Serving, method: str = "skills/list", **params: Any) -> dict[str, Any]:
    async def work(client: Client) -> dict[str, Any]:
        return await ask(client, method, **params)

    return served.asked(work)


def error_of(served: Serving, method: str, **params: Any) -> MCPError:
    with pytest.raises(MCPError) as caught:
        everything(served, method, **params)
    error: MCPError = caught.value
    assert error.code == -32602
    assert str(served.root.parent) not in error.message
    assert len(error.message) < 2_500
    return error


def test_the_extension_is_declared_with_directory_reading(served: Serving) -> None:
    async def capabilities(client: Client) -> Any:
        return client.server_capabilities

    found = served.asked(capabilities)
    assert found.extensions == {EXTENSION: {"directoryRead": True}}
    assert found.resources.list_changed is True


def test_an_entry_lists_every_file_with_the_digest_and_size_of_its_bytes(served: Serving) -> None:
    result = everything(served)
    assert [skill["uri"] for skill in result["skills"]] == [
        "skill://deploy/SKILL.md", "skill://pdf-tables/SKILL.md", "skill://unit-tests/SKILL.md",
    ]  # fmt: skip
    entry = result["skills"][1]
    assert entry["frontmatter"] == {
        "name": "pdf-tables", "description": "Extract tables from PDF files.",
    }  # fmt: skip
    names = [
        "pdf-tables/SKILL.md", "pdf-tables/assets/page.png", "pdf-tables/references/layout.md",
        "pdf-tables/scripts/cut.py",
    ]  # fmt: skip
    assert entry["resources"] == [
        {"uri": f"skill://{n}", "digest": sha256(data_of(n)), "size": len(data_of(n))}
        for n in names
    ]
    assert result["resultType"] == "complete"
    assert result["cacheScope"] == "private"
    assert 0 < result["ttlMs"] < 1_000
    assert "nextCursor" not in result


def test_get_gives_the_very_entry_of_the_list(served: Serving) -> None:
    for entry in everything(served)["skills"]:
        result = everything(served, "skills/get", uri=entry["uri"])
        assert result["skill"] == entry
        assert result["resultType"] == "complete"
        assert {"ttlMs", "cacheScope"} <= set(result)


def test_older_clients_get_no_fields_of_the_newer_revision(served: Serving) -> None:
    async def work(client: Client) -> dict[str, Any]:
        return await ask(client, "skills/list")

    assert set(served.asked(work, "legacy")) == {"skills"}


@for_each("uri", UNKNOWN)
def test_a_uri_that_is_no_skill_is_invalid_params(served: Serving, uri: str) -> None:
    error_of(served, "skills/get", uri=uri)


@for_each("params", [{}, {"uri": 7}, {"uri": None}, {"uri": ["skill://a"]}])
def test_parameters_of_another_kind_are_invalid_params(
    served: Serving, params: dict[str, Any]
) -> None:
    for method in ("skills/get", "resources/directory/read"):
        assert error_of(served, method, **params).message == "Invalid request parameters"


@for_each("cursor", ["x", "", "eyJhZnRlciI6MX0=", "é", "A" * 100_000])
def test_a_cursor_that_nobody_gave_is_invalid_params(served: Serving, cursor: str) -> None:
    for method in ("skills/list", "resources/list", "prompts/list"):
        assert "cursor" in error_of(served, method, cursor=cursor).message


def test_reading_gives_exactly_the_bytes_of_the_digest(served: Serving) -> None:
    async def work(client: Client) -> None:
        for entry in (await ask(client, "skills/list"))["skills"]:
            for file in entry["resources"]:
                content = (await client.read_resource(file["uri"])).contents[0]
                if isinstance(content, TextResourceContents):
                    data = content.text.encode()
                else:
                    assert isinstance(content, BlobResourceContents)
                    data = base64.b64decode(content.blob)
                assert (sha256(data), len(data)) == (file["digest"], file["size"])
                assert content.uri == file["uri"]
                assert content.meta is not None
                assert content.meta[f"{extension.META}origin"].startswith("local library: ")

    served.asked(work)


@for_each("uri", NO_FILES)
def test_no_other_uri_reads_anything(served: Serving, uri: str) -> None:
    async def work(client: Client) -> object:
        return await client.read_resource(uri)

    with pytest.raises(MCPError) as caught:
        served.asked(work)
    assert caught.value.code == -32602


def test_resources_are_listed_with_size_digest_and_media_type(served: Serving) -> None:
    async def work(client: Client) -> dict[str, Any]:
        return {each.uri: each for each in (await client.list_resources()).resources}

    found = served.asked(work)
    assert len(found) == len(LIBRARY)
    own = found["skill://pdf-tables/SKILL.md"]
    assert (own.name, own.mime_type) == ("pdf-tables", "text/markdown")
    assert own.description == "Extract tables from PDF files."
    for uri, each in found.items():
        data = data_of(uri.removeprefix("skill://"))
        assert each.size == len(data)
        assert each.meta[f"{extension.META}digest"] == sha256(data)
    assert found["skill://pdf-tables/assets/page.png"].mime_type == "image/png"


def test_a_directory_lists_its_direct_children(served: Serving) -> None:
    root = everything(served, "resources/directory/read", uri="skill://pdf-tables")
    assert root["resultType"] == "complete"
    children = {each["name"]: each for each in root["resources"]}
    assert list(children) == ["pdf-tables", "assets", "references", "scripts"]
    assert children["references"]["mimeType"] == "inode/directory"
    assert children["references"]["uri"] == "skill://pdf-tables/references"
    below = everything(served, "resources/directory/read", uri="skill://pdf-tables/references")
    assert [each["uri"] for each in below["resources"]] == [
        "skill://pdf-tables/references/layout.md"
    ]


@for_each(
    "uri",
    [
        "skill://pdf-tables/SKILL.md", "skill://pdf-tables/", "skill://pdf-tables/none",
        "skill://pdf-tables/references/", "skill://pdf-tables/..", "skill://", "skill://nope",
        "skill://pdf-tables/references/layout.md", "file:///", "x" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_directory_is_invalid_params(served: Serving, uri: str) -> None:
    error_of(served, "resources/directory/read", uri=uri)


def test_every_page_together_is_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extension, "PAGE", 3)
    monkeypatch.setattr(extension, "CHILDREN", 2)
    write_tree(
        tmp_path,
        {f"s-{n}/SKILL.md": document(f"s-{n}") for n in range(8)}
        | {f"s-0/references/{n}.md": "x" for n in range(5)},
    )

    async def pages(method: str, member: str, **params: Any) -> list[list[str]]:
        async with in_process(tmp_path) as (client, _):
            found, cursor = [], None
            while True:
                given = params if cursor is None else {**params, "cursor": cursor}
                page = await ask(client, method, **given)
                found.append([each["uri"] for each in page[member]])
                cursor = page.get("nextCursor")
                if cursor is None:
                    return found

    listed = run(pages("skills/list", "skills"))
    assert [len(page) for page in listed] == [3, 3, 2]
    assert [uri for page in listed for uri in page] == [f"skill://s-{n}/SKILL.md" for n in range(8)]
    children = run(pages("resources/directory/read", "resources", uri="skill://s-0/references"))
    assert [len(page) for page in children] == [2, 2, 1]


def entries(root: Path) -> dict[str, Any]:
    async def work() -> dict[str, Any]:
        async with in_process(root) as (client, _):
            return {each["uri"]: each for each in (await ask(client, "skills/list"))["skills"]}

    return run(work())


def told(root: Path, uri: str) -> str:
    async def work() -> str:
        async with in_process(root) as (client, _):
            with pytest.raises(MCPError) as caught:
                await ask(client, "skills/get", uri=uri)
            message: str = caught.value.message
            return message

    return run(work())


def test_skills_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "billing/refunds/SKILL.md": document("refunds", "Of bills."),
            "support/refunds/SKILL.md": document("refunds", "Of calls."),
            "odd ünit/refunds/SKILL.md": document("refunds", "Of folders."),
            "alone/SKILL.md": document("alone"),
        },
    )
    assert set(entries(tmp_path)) == {
        "skill://alone/SKILL.md",
        "skill://billing/refunds/SKILL.md",
        "skill://support/refunds/SKILL.md",
        "skill://odd%20%C3%BCnit/refunds/SKILL.md",
    }


def test_a_nested_skill_lies_below_the_one_around_it_and_is_part_of_its_files(
    tmp_path: Path,
) -> None:
    inner = document("inner", "The inner one.")
    write_tree(
        tmp_path,
        {
            "outer/SKILL.md": document("outer", "The outer one."),
            "outer/parts/inner/SKILL.md": inner,
            "outer/parts/inner/a.md": "a",
            "outer/parts/other/SKILL.md": document("another-name", "Not its folder's."),
        },
    )
    found = entries(tmp_path)
    assert set(found) == {"skill://outer/SKILL.md", "skill://outer/parts/inner/SKILL.md"}
    files = {file["uri"]: file["digest"] for file in found["skill://outer/SKILL.md"]["resources"]}
    assert files["skill://outer/parts/inner/SKILL.md"] == sha256(inner.encode())
    assert "skill://outer/parts/other/SKILL.md" in files
    assert "folder" in told(tmp_path, "skill://another-name/SKILL.md")


@for_each(
    ("text", "uri", "why"),
    [
        (document("Not A Name", "d"), "skill://Not A Name/SKILL.md", "name is not one"),
        (document("long", "d" * 1_100), "skill://long/SKILL.md", "longer than 1,024"),
        (document("mended", "has: a colon"), "skill://mended/SKILL.md", "not plain YAML"),
    ],
)
def test_a_skill_that_hosts_would_refuse_is_not_served_and_says_why(
    tmp_path: Path, text: str, uri: str, why: str
) -> None:
    write_tree(tmp_path, {"x/SKILL.md": text, "fine/SKILL.md": document("fine")})
    assert set(entries(tmp_path)) == {"skill://fine/SKILL.md"}
    assert why in told(tmp_path, uri)


def test_a_skill_beyond_the_limits_is_not_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path / "a", {"big/SKILL.md": document("big"), "big/x.bin": b"x" * 5_000})
    monkeypatch.setattr(manifests, "ENTRY_BYTES", 4_000)
    assert "larger than 4,000 bytes" in told(tmp_path / "a", "skill://big/SKILL.md")
    monkeypatch.undo()
    files = {f"many/{n}.md": "x" for n in range(512)}
    write_tree(tmp_path / "b", {"many/SKILL.md": document("many"), **files})
    assert "more than 512 files" in told(tmp_path / "b", "skill://many/SKILL.md")
    (tmp_path / "b/many/0.md").unlink()
    assert len(entries(tmp_path / "b")["skill://many/SKILL.md"]["resources"]) == 512


def test_frontmatter_is_typed_as_a_host_would_type_it(tmp_path: Path) -> None:
    extra = (
        'version: "1.0"\nnumber: 1.0\nflag: true\nnothing:\nday: 2026-01-02\n'
        "metadata:\n  a: '1'\nallowed-tools: Bash(git:*)\n"
    )
    write_tree(tmp_path, {"typed/SKILL.md": document("typed", "d", extra=extra)})
    assert entries(tmp_path)["skill://typed/SKILL.md"]["frontmatter"] == {
        "name": "typed", "description": "d", "version": "1.0", "number": 1.0, "flag": True,
        "nothing": None, "day": "2026-01-02", "metadata": {"a": "1"},
        "allowed-tools": "Bash(git:*)",
    }  # fmt: skip


@requirement("client:fastmcp")
def test_a_file_that_does_not_conform_is_served_as_its_entry_says(tmp_path: Path) -> None:
    extra = "allowed-tools:\n  - Read\n  - Bash(git diff:*)\n"
    write_tree(tmp_path, {"a/SKILL.md": document("a", "d", "Body.", extra=extra)})

    async def work() -> tuple[dict[str, Any], str]:
        async with in_process(tmp_path) as (client, _):
            (entry,) = (await ask(client, "skills/list"))["skills"]
            content = (await client.read_resource(entry["uri"])).contents[0]
            assert isinstance(content, TextResourceContents)
            return entry, content.text

    entry, text = run(work())
    assert "allowed-tools" not in entry["frontmatter"]
    assert "allowed-tools" not in text
    assert text.endswith("Body.\n")
    (file,) = entry["resources"]
    assert (file["digest"], file["size"]) == (sha256(text.encode()), len(text.encode()))


def test_links_and_what_lies_behind_them_are_no_files_of_a_skill(tmp_path: Path) -> None:
    write_tree(tmp_path, {"skills/a/SKILL.md": document("a"), "secret.txt": "s"})
    (tmp_path / "skills/a/link.md").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "skills/a/folder").symlink_to(tmp_path)
    entry = entries(tmp_path / "skills")["skill://a/SKILL.md"]
    assert [file["uri"] for file in entry["resources"]] == ["skill://a/SKILL.md"]


def test_a_single_document_is_a_skill_of_one_file(tmp_path: Path) -> None:
    write_tree(tmp_path, {".skills/note.md": document("note"), "AGENTS.md": "# Rules\n"})
    entry = entries(tmp_path)["skill://note/SKILL.md"]
    assert [file["uri"] for file in entry["resources"]] == ["skill://note/SKILL.md"]


def test_a_library_without_skills_is_an_empty_list(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with serving(tmp_path / "none", {}) as served:
        assert everything(served)["skills"] == []
        assert served.call("list_skills").structured_content["total"] == 0
