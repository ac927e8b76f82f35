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


@for_each("uri", UNKNOWN)
def test_a_uri_that_is_no_skill_is_invalid_params(served: Serving, uri: str) -> None:
    error_of(served, "skills/get", uri=uri)


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
