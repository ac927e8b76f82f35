"""One question to a search service that knows the stand-in and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from skillyard import SearchService
from skillyard.install.search import FoundSkill, SourceStatus
from skillyard.install.sources.protocol import Source
from skillyard.install.sources.settings import Settings
from skillyard.types import SearchResult
from skillyard_testkit import FakeServers

T = TypeVar("T")


def skill_text(name: str, description: str = "", body: str = "Do it so.", **fields: str) -> str:
    """Return a SKILL.md; the fields come after the description, as they are written."""
    more = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\nname: {name}\ndescription: {description or name}\n{more}---\n\n{body}\n"


def settings_of(up: FakeServers, **changes: Any) -> Settings:
    """Return settings that name the stand-in's servers, and no curated list of our own."""
    settings = Settings(
        skills_sh_url=up.skills_sh,
        github_api_url=up.github_api,
        github_raw_url=up.github_raw,
        shipped_registry=False,
    )
    return settings._replace(**changes)


def with_service(
    use: Callable[[SearchService], Awaitable[T]],
    *,
    settings: Settings,
    sources: Iterable[str | Source] | None = None,
    **service: Any,
) -> T:
    """Return what ``use`` returns for an open service; without a cache where none is given."""
    service = {"cache": False, **service}

    async def run() -> T:
        async with SearchService(sources, settings=settings, **service) as search:
            return await use(search)

    return asyncio.run(run())


def searched(
    query: str,
    limit: int = 10,
    *,
    settings: Settings,
    include_content: bool = True,
    include_references: bool = False,
    **service: Any,
) -> SearchResult:
    """Return the answer to one search by a service of its own."""
    return with_service(
        lambda search: search.search(
            query,
            limit=limit,
            include_content=include_content,
            include_references=include_references,
        ),
        settings=settings,
        **service,
    )


def found(name: str, *, settings: Settings, **service: Any) -> FoundSkill:
    """Return what ``find`` gives."""
    return with_service(lambda search: search.find(name), settings=settings, **service)


def got(source: str, skill_id: str, *, settings: Settings) -> FoundSkill:
    """Return what ``get`` gives."""
    return with_service(lambda search: search.get(source, skill_id), settings=settings)


def keys(result: SearchResult) -> list[str]:
    """Return ``source/id`` of the answer's skills, in its order."""
    return [one.hit.key for one in result.skills]


def ids(result: SearchResult) -> list[str]:
    """Return the ids of the answer's skills, in its order."""
    return [one.hit.id for one in result.skills]


def by_id(result: SearchResult) -> dict[str, FoundSkill]:
    """Return the answer's skills by their ids, each of which stands there once."""
    named = {one.hit.id: one for one in result.skills}
    assert len(named) == len(result.skills)
    return named


def status_of(result: SearchResult, source: str) -> SourceStatus:
    """Return what one source did."""
    (status,) = [one for one in result.sources if one.name == source]
    return status
