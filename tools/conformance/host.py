"""A host of skills, as the protocol's conformance runner starts one: ``host.py [...] URL``.

It approves what the server lists and, but for the scenario that looks for early reads, loads it and
reads its files. What does not verify is refused, which is what those scenarios wait for.
"""

from __future__ import annotations

import asyncio
import os
import sys

from mcp import Client

from skillyard_testkit.mcp_host import SkillHost, Unverified

NO_READS = "sep-2640-client-no-prefetch"


async def main(url: str, scenario: str) -> None:
    """Use the skills of the server at that address as the scenario wants it."""
    async with Client(url, cache=None) as client:
        host = SkillHost("conformance", client.session)
        for skill in (await host.listing()).skills:
            host.approve(skill)
            if scenario == NO_READS:
                continue
            try:
                loaded = await host.load(skill)
                for file in skill.files or ():
                    await host.read(loaded, file.uri)
            except Unverified as refused:
                sys.stderr.write(f"refused: {refused}\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1], os.environ.get("MCP_CONFORMANCE_SCENARIO", "")))
