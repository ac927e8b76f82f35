"""Federated search: query every source at once, fetch the results, rank them, report failures.

:mod:`.service` runs the five steps, :mod:`.candidates` merges the records of one skill,
:mod:`.content` reads fetched files, :mod:`.result` is the result. :mod:`.search_cache` stores the
candidates of recent searches while everything that they depend on is fresh.
"""

from skillyard.remote.search.result import FoundSkill, SearchResult, SourceStatus
from skillyard.remote.search.service import SearchService

__all__ = ["FoundSkill", "SearchResult", "SearchService", "SourceStatus"]
