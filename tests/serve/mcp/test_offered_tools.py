"""Which tools a server offers: few by default, all where its operator says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ListToolsResult

from skillyard.errors import InvalidInput
from skillyard.serve.mcp.tools import DEFAULT, tools_of
from skillyard.serve.runtime.options import ServiceOptions
from tests.serve.mcp.local_servers import in_process, run

ALL = tools_of(all_tools=True, feedback=False)
MAX_LIST_BYTES = 6 * 1024
"""Every conversation of every client pays for the list with its tokens."""


def listed(tmp_path: Path, **options: Any) -> ListToolsResult:
    async def work() -> ListToolsResult:
        async with in_process(tmp_path, **options) as (client, _):
            return await client.list_tools()

    return run(work())


def names(tmp_path: Path, **options: Any) -> list[str]:
    return [tool.name for tool in listed(tmp_path, **options).tools]


def test_the_default_list_is_short_and_says_all_of_it(tmp_path: Path) -> None:
    result = listed(tmp_path, tools=None)
    assert [tool.name for tool in result.tools] == list(DEFAULT)
    assert all(tool.input_schema and tool.output_schema for tool in result.tools)
    text = result.model_dump_json(by_alias=True, exclude_none=True)
    assert len(text.encode()) <= MAX_LIST_BYTES


def test_an_option_or_a_variable_offers_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert names(tmp_path, tools="all") == list(ALL)
    assert names(tmp_path, tools=None, feedback=True) == [*DEFAULT, "skill_feedback"]
    monkeypatch.setenv("SKILLYARD_TOOLS", "all")
    assert names(tmp_path, tools=None) == list(ALL)
    assert names(tmp_path, tools="default") == list(DEFAULT)
    monkeypatch.setenv("SKILLYARD_TOOLS", "most")
    with pytest.raises(InvalidInput, match="SKILLYARD_TOOLS"):
        ServiceOptions()


def test_a_call_of_a_tool_that_is_not_offered_says_how_to_offer_it(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        for name in set(ALL) - set(DEFAULT):
            with pytest.raises(MCPError, match="--tools all") as error:
                await client.call_tool(name, {})
            assert name in str(error.value)
            assert "SKILLYARD_TOOLS=all" in str(error.value)
        with pytest.raises(MCPError, match=r"not offer skill_feedback.*serve --feedback"):
            await client.call_tool("skill_feedback", {})

    async def session() -> None:
        async with in_process(tmp_path, tools=None) as (client, _):
            await work(client)

    run(session())
