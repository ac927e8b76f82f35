"""Federated search: ask every source at once, fetch what they found, rank it, say what failed.

:mod:`.service` runs the five steps, :mod:`.merging` makes one record of several, :mod:`.content`
reads what was fetched, :mod:`.result` is the answer. :mod:`.gathering` keeps what the sources had
for the next search that asks the same, as long as it stands by what :mod:`.noting` wrote down.
"""

from skillyard.remote.search.result import FoundSkill, SearchResult, SourceStatus
from skillyard.remote.search.service import SearchService

__all__ = ["FoundSkill", "SearchResult", "SearchService", "SourceStatus"]
