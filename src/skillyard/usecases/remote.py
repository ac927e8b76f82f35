"""Search of remote sources, and the cache of their responses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.remote.search import SearchResult, SearchService
from skillyard.remote.sources.registry import response_cache
from skillyard.remote.sources.settings import Settings, load_settings

if TYPE_CHECKING:
    from skillyard.catalog import Catalog

__all__ = ["CacheCleared", "CacheState", "cache_clear", "cache_stats", "search_skills"]


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


class CacheState(NamedTuple):
    """The size of the cache of remote responses."""

    path: str
    entries: int
    bytes: int
    oldest: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.cache-stats/1``."""
        return {"schema": "skillyard.cache-stats/1", **self._asdict()}


class CacheCleared(NamedTuple):
    """The result of clearing the cache."""

    path: str
    removed: int

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.cache-clear/1``."""
        return {"schema": "skillyard.cache-clear/1", **self._asdict()}


def cache_stats(settings: Settings | None = None) -> CacheState:
    """Return the size of the response cache. Raises SkillIoError, InvalidInput for settings."""
    return CacheState(*response_cache(settings or load_settings()).stats())


def cache_clear(settings: Settings | None = None) -> CacheCleared:
    """Remove every cached response. Raises SkillIoError, InvalidInput for settings."""
    cache = response_cache(settings or load_settings())
    return CacheCleared(cache.folder, cache.clear())
