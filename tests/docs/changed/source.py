"""Find the skill of the new source: in Python, on the command line and in the settings."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import skillyard as sy
from skillyard.install.sources.settings import Settings

REQUEST = "a new colleague starts on Monday"


def skillyard(*arguments: str) -> str:
    command = [sys.executable, "-m", "skillyard", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


async def in_python() -> list[str]:
    async with sy.SearchService(sources=["handbook"]) as search:
        return [each.skill.name for each in (await search.search(REQUEST)).skills]


if __name__ == "__main__":
    assert asyncio.run(in_python()) == ["first-day"]
    print("python")
    document = json.loads(skillyard("search", REQUEST, "--source", "handbook", "--json"))
    assert [skill["name"] for skill in document["skills"]] == ["first-day"]
    print("search")
    assert "handbook" in Settings().enabled
    print("settings")
    assert "handbook" in skillyard("completion", "bash")
    print("completion")
