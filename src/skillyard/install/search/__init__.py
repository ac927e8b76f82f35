"""Federated search: query every source at once, fetch the results, rank them, report failures.

:mod:`.service` runs the five steps, :mod:`.result` is the result.
"""

from skillyard.base.shapes.skills import SourceStatus
from skillyard.install.search.result import FoundSkill, SearchResult
from skillyard.install.search.service import SearchService

__all__ = ["FoundSkill", "SearchResult", "SearchService", "SourceStatus"]
