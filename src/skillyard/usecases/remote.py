"""Search of remote sources, and the cache of their responses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from skillyard.remote.git.repository import clear_repositories
from skillyard.remote.search import SearchResult, SearchService
from skillyard.remote.sources.registry import response_cache
from skillyard.remote.sources.settings import Settings, load_settings
from skillyard.shapes.remote import CacheCleared, CacheState

if TYPE_CHECKING:
    from skillyard.catalog import Catalog

__all__ = ["cache_clear", "cache_stats", "search_skills"]


def search_skills(
    query: str,
    *,
    sources: Sequence[str] | None = None,
    limit: int = 10,
    references: bool = False,
    ranker: str | None = None,
    settings: Settings | None = None,
    catalog: Catalog | None = None,
) -> SearchResult:
    """Search the sources. Raises InvalidInput, UnknownName, SkillIoError."""

    async def run() -> SearchResult:
        async with SearchService(sources, ranker, settings=settings, catalog=catalog) as search:
            return await search.search(query, limit, include_references=references)

    return asyncio.run(run())


def cache_stats(settings: Settings | None = None) -> CacheState:
    """Return the size of the response cache. Raises SkillIoError, InvalidInput for settings."""
    path, entries, size, oldest = response_cache(settings or load_settings()).stats()
    return CacheState(path=path, entries=entries, bytes=size, oldest=oldest)


def cache_clear(settings: Settings | None = None) -> CacheCleared:
    """Remove every cached response and repository. Raises SkillIoError, InvalidInput for settings.

    Raises SourceFailed where another run uses a repository.
    """
    cache = response_cache(settings or load_settings())
    return CacheCleared(path=cache.folder, removed=cache.clear() + clear_repositories())
