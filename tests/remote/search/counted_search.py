"""A search service whose gatherings are counted, with a clock of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from skillyard.remote.search import SearchResult, SearchService
from skillyard.remote.search.search_cache import CandidateSet, SearchRequest
from skillyard.remote.sources.responses import ResponseCache
from skillyard.remote.sources.settings import Settings
from skillyard.remote.sources.transport import Transport
from skillyard_testkit import FakeServers
from tests.remote.search.fake_search import settings_of, skill_text, transport_of
from tests.remote.sources.clients import Clock
from tests.remote.sources.test_responses_in_memory import aged

T = TypeVar("T")
REPOSITORY = "acme/skills"
NAMES = [f"pdf-{number}" for number in range(4)]
NESTED = "---\nname: pdf-0\ndescription: Pdf.\nmetadata:\n  tools: [a, b]\n---\n\nDo."


def publish(up: FakeServers, body: str) -> None:
    """Give the repository four skills with that body, one of them with nested metadata."""
    files = {f"skills/{name}/SKILL.md": skill_text(name, body=body) for name in NAMES}
    files |= {f"skills/{name}/references/a.md": f"{body} {name}" for name in NAMES}
    files["skills/pdf-0/SKILL.md"] = f"{NESTED} {body}"
    up.add_repository(REPOSITORY, files)


def listed(up: FakeServers) -> None:
    """Let the marketplace list the skills of the repository."""
    publish(up, "Do it so.")
    for place, name in enumerate(NAMES):
        up.list_skill(REPOSITORY, name, installs=place)


class Counted(SearchService):
    """Counts how often its sources were gone through."""

    gathered = 0

    async def _gather(self, request: SearchRequest) -> CandidateSet:
        self.gathered += 1
        return await super()._gather(request)


class Keeping:
    """Services over one cache, on disk or in memory, and the clock that they go by."""

    def __init__(self, up: FakeServers, folder: Path | None, **changes: Any) -> None:
        self.up = up
        self.folder = folder
        self.clock = Clock()
        self.settings: Settings = settings_of(up, repositories=(REPOSITORY,), **changes)

    def transport(self) -> Transport:
        """Return a transport over the cache, as another process would have one."""
        return transport_of(self.settings, self.folder, clock=self.clock)

    def run(self, use: Callable[[Counted], Awaitable[T]], **service: Any) -> T:
        """Return what ``use`` makes of a service that is open."""

        async def asked() -> T:
            transport = self.transport()
            async with Counted(settings=self.settings, transport=transport, **service) as search:
                return await use(search)

        return asyncio.run(asked())

    def settle(self) -> None:
        """Let the list on disk look as if nobody had written it lately."""
        if self.folder is not None and ResponseCache(str(self.folder)).state() is None:
            aged(self.folder)

    async def warm(self, search: SearchService, query: str = "pdf", **how: Any) -> SearchResult:
        """Return the answer that is made of the cache alone, and kept where it may be."""
        await search.search(query, **how)
        self.settle()
        return await search.search(query, **how)


def said(result: SearchResult) -> str:
    """Return all that an answer says, as text."""
    return json.dumps(result.to_dict(include_raw=True, explain=True))


def bodies(result: SearchResult) -> set[str]:
    """Return the bodies of an answer, but for the skill whose body begins otherwise."""
    return {(one.skill.body or "").strip().removeprefix("Do. ") for one in result.skills}


def ages(result: SearchResult) -> list[float]:
    """Return the ages of an answer's packages, in its order."""
    return [one.package.age_s for one in result.skills if one.package is not None]
