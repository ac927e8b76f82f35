"""Federated search: ask every source at once, fetch what they found, rank it, say what failed.

:mod:`.service` runs the five steps, :mod:`.merging` makes one record of several, :mod:`.content`
reads what was fetched, :mod:`.result` is the answer.
"""

from skillyard.search.result import FoundSkill, SearchResult, SourceStatus
from skillyard.search.service import SearchService

__all__ = ["FoundSkill", "SearchResult", "SearchService", "SourceStatus"]
