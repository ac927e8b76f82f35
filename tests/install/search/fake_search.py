"""One question to a search service that knows the stand-in and nothing else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from skillyard import SearchResult, SearchService
from skillyard.install.search import FoundSkill, SourceStatus
from skillyard.install.sources.protocol import Source
from skillyard.install.sources.responses import ResponseCache
from skillyard.install.sources.settings import Settings
from skillyard.install.sources.transport import RemoteHost, Transport
from skillyard_testkit import FakeServers

T = TypeVar("T")

GITHUB_TOKEN = "testkit-github-token"
SKILLS_SH_TOKEN = "testkit-skills-sh-token"

EVERY = {"pdf-market", "pdf-ours", "pdf-site"}
"""What the upstreams of the fixture ``three`` have, by id."""
DEADLINE_S = 1.2
QUICK = {"source_timeout_s": 3.0}
"""Longer than a request's own deadline, so that the request says what happened to it."""


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


def transport_of(
    settings: Settings,
    folder: Path | None = None,
    *,
    deadline_s: float = 5.0,
    clock: Callable[[], float] = time.time,
) -> Transport:
    """Return a transport to the hosts of the settings, with a deadline and a clock of our own."""
    hosts = {
        "skills.sh": RemoteHost(settings.skills_sh_url, token=settings.skills_sh_token),
        "github-api": RemoteHost(settings.github_api_url, token=settings.github_token),
        "github-raw": RemoteHost(settings.github_raw_url, token=settings.github_token),
    }
    hosts |= {f"site:{site}": RemoteHost(site) for site in settings.sites}
    hosts |= {f"server:{url}": RemoteHost(url) for url in settings.servers}
    cache = None if folder is None else ResponseCache(str(folder))
    return Transport(hosts, cache, deadline_s=deadline_s, clock=clock)


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


def found(name: str, *, settings: Settings, references: bool = False, **service: Any) -> FoundSkill:
    """Return what ``find`` gives."""
    return with_service(
        lambda search: search.find(name, references=references), settings=settings, **service
    )


def got(
    source: str, skill_id: str, *, settings: Settings, references: bool = False, **service: Any
) -> FoundSkill:
    """Return what ``get`` gives."""
    return with_service(
        lambda search: search.get(source, skill_id, references=references),
        settings=settings,
        **service,
    )


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


def ask_three(up: FakeServers, **changes: Any) -> SearchResult:
    """Return the answer for ``pdf`` of the marketplace, the repository and the site."""
    settings = settings_of(
        up, sites=(up.well_known,), repositories=("acme/skills",), **QUICK, **changes
    )
    transport = transport_of(settings, deadline_s=DEADLINE_S)
    return searched("pdf", settings=settings, transport=transport)
