"""Ask with the new field of a request on every surface; print each that follows it."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import httpx2
from mcp import Client as McpClient
from service import command_line, served, terminal

from skillyard.serve.client import Client

LIBRARY = os.environ["SKILLYARD_LIBRARY"]
REQUEST = "please review this terraform plan"


def follows(surface: str, top_k: Any) -> None:
    assert top_k == 1, f"{surface}: {top_k}"
    print(surface)


async def by_mcp(address: str) -> None:
    async with McpClient(f"{address}/mcp") as client:
        (tool,) = [
            each for each in (await client.list_tools()).tools if each.name == "select_skill"
        ]
        assert (
            tool.input_schema["properties"]["alone"]["description"] == "Choose one skill at most."
        )
        answer = await client.call_tool("select_skill", {"query": REQUEST, "alone": True})
    follows("mcp", answer.structured_content["policy"]["top_k"])


if __name__ == "__main__":
    assert "--alone" in terminal("select", "--help")
    assert "--alone" in terminal("completion", "bash")
    chosen = command_line("select", REQUEST, "--alone", "--root", LIBRARY)
    follows("command", chosen["policy"]["top_k"])
    with served(LIBRARY) as address:
        http = httpx2.Client(base_url=address, timeout=60, trust_env=False)
        body = {"query": REQUEST, "alone": True}
        follows("POST/select", http.post("/select", json=body).json()["policy"]["top_k"])
        assert http.post("/select", json={**body, "alone": "yes"}).status_code == 422
        described = http.get("/openapi.json").json()["paths"]["/select"]["post"]["requestBody"]
        members = described["content"]["application/json"]["schema"]["properties"]
        assert members["alone"]["description"] == "Choose one skill at most."
        print("openapi")
        with Client(address) as client:
            follows("client", client.select(REQUEST, alone=True).policy.top_k)
        asyncio.run(by_mcp(address))
