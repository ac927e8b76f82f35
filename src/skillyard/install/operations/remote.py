"""Search of remote sources."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from skillyard.install.search import SearchResult, SearchService
from skillyard.install.sources.settings import Settings

if TYPE_CHECKING:
    from skillyard.engine.catalog import Catalog


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
