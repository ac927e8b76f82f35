"""The order is total, and the same search gives the same bytes."""

from __future__ import annotations

from skillyard.install.sources.settings import Settings
from tests.install.search.fake_search import (
    keys,
    searched,
)
from tests.install.search.memory import Memory, hit

BARE = Settings(shipped_registry=False, ranker="relevance")


class TestOrder:
    def test_equal_scores_are_ordered_by_source_and_id(self) -> None:
        hits = [hit(f"kit-{n}", f"{owner}/skills") for owner in "cab" for n in (2, 0, 1)]
        expected = sorted(one.key for one in hits)
        for order in (hits, hits[::-1], sorted(hits), hits[4:] + hits[:4]):
            result = searched("nothing", settings=BARE, sources=[Memory(order)])
            assert keys(result) == expected
