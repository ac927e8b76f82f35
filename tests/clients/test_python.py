"""Skyll's client, FastMCP's client and the SDK of MCP, over both libraries."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from hashlib import sha256
from importlib import import_module
from typing import Any, TypeVar

import pytest

from tests.clients.conftest import PATIENCE_S, Served
from tests.requirements import requirement

T = TypeVar("T")
# What these packages warn about is not this project's business.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


def run(work: Awaitable[T]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(PATIENCE_S):
            return await work

    return asyncio.run(bounded())


@requirement("client:skyll")
def test_skylls_client_searches_and_gets(served: Served) -> None:
    skyll = import_module("skyll")

    async def work() -> None:
        async with skyll.Skyll(base_url=served.url, timeout=PATIENCE_S) as client:
            assert (await client.health())["status"] == "healthy"
            for name in served.library.sample:
                text = served.library.files(name)["SKILL.md"].decode()
                words = name.replace("-", " ")
                hits = await client.search(words, 50, include_raw=True, include_references=True)
                found = [hit for hit in hits if hit.raw_content == text]
                if "\ntrigger: true\n" in text:  # people call it by name, and no search finds it
                    assert found == []
                    found = [await client.get("local", name, True, True)]
                (hit,) = found
                assert hit.has_content
                again = await client.get(hit.source, hit.id, True, True)
                assert (again.content, again.references) == (hit.content, hit.references)
            assert await client.get("local", "no-such-skill") is None
        (found,) = await skyll.search_skills("review", limit=1, base_url=served.url)
        assert found.content

    run(work())


@requirement("client:fastmcp", "client:mcp-slash")
@pytest.mark.parametrize("transport", ["/mcp", "/mcp/", "stdio"])
def test_fastmcps_client_lists_every_skill_and_reads_its_files(
    served: Served, transport: str
) -> None:
    fastmcp, skills = import_module("fastmcp"), import_module("fastmcp.skills")
    transports = import_module("fastmcp.client.transports")
    to = (
        transports.StdioTransport(served.stdio[0], list(served.stdio[1:]), env=served.environment)
        if transport == "stdio"
        else transports.StreamableHttpTransport(served.url + transport)
    )

    async def work() -> None:
        async with fastmcp.Client(to, extensions=[skills.SkillsClientExtension()]) as client:
            listed = {skill.frontmatter.name: skill for skill in await client.list_skills()}
            assert sorted(listed) == served.library.names
            for name in served.library.sample:
                assert await client.get_skill(listed[name].uri) == listed[name]
                await _check_files(client, served, name, listed[name].resources)

    run(work())


async def _check_files(client: Any, served: Served, name: str, resources: list[Any]) -> None:
    """Check that a skill's manifest is its folder, and that every digest is of what is read."""
    files = served.library.files(name)
    assert len(resources) == len(files)
    for resource in resources:
        (content,) = await client.read_resource(resource.uri)
        data = _bytes(content)
        assert (f"sha256:{sha256(data).hexdigest()}", len(data)) == (resource.digest, resource.size)
        if not resource.uri.endswith("/SKILL.md"):  # whose frontmatter may be rewritten
            assert data in files.values()


def _bytes(content: Any) -> bytes:
    if hasattr(content, "text"):
        return str(content.text).encode()
    return import_module("base64").b64decode(content.blob)  # type: ignore[no-any-return]


def _over_http(served: Served) -> Any:
    return f"{served.url}/mcp/"


def _over_stdio(served: Served) -> Any:
    command, *arguments = served.stdio
    return import_module("mcp").StdioServerParameters(
        command=command, args=arguments, env=served.environment
    )


@pytest.mark.parametrize("way", [_over_http, _over_stdio])
def test_the_sdks_client_chooses_and_loads(served: Served, way: Callable[[Served], Any]) -> None:
    mcp = import_module("mcp")

    async def work() -> None:
        async with mcp.Client(way(served)) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert {"search_skills", "load_skill", "read_skill_file"} <= tools
            name = served.library.largest
            loaded = await client.call_tool("load_skill", {"name": name})
            assert not loaded.is_error
            assert loaded.structured_content["name"] == name
            chosen = await client.call_tool("search_skills", {"query": name.replace("-", " ")})
            assert not chosen.is_error
            listed = (await client.list_resources()).resources
            (content,) = (await client.read_resource(listed[0].uri)).contents
            assert _bytes(content)

    run(work())
