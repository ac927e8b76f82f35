"""Federated search: ask every source at once, fetch what they found, rank it, say what failed.

:mod:`.service` runs the five steps, :mod:`.candidates` merges the records of one skill,
:mod:`.content` reads what was fetched, :mod:`.result` is the answer. :mod:`.search_cache` stores
the candidates of recent searches for as long as everything that they depend on is fresh.
"""

from skillyard.remote.search.result import FoundSkill, SearchResult, SourceStatus
from skillyard.remote.search.service import SearchService

__all__ = ["FoundSkill", "SearchResult", "SearchService", "SourceStatus"]
