"""One state of the catalog, ready to be ranked.

Everything that an answer may show is in memory when a snapshot is made, so files that change
meanwhile cannot mix into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock
from typing import TYPE_CHECKING

from skillyard.catalog import Catalog
from skillyard.index.indexed_catalog import IndexedCatalog
from skillyard.ranking.registry import DEFAULT_SCORER, bind, resolve
from skillyard.remote.sources.lru_bytes import LruBytes
from skillyard.remote.sources.protocol import Hit
from skillyard.skill import Skill

if TYPE_CHECKING:
    from skillyard.serving.runtime.browse import BrowseIndex

__all__ = ["Snapshot", "snapshot_of"]

HITS_BYTES = 64 * 1024 * 1024
"""Of found skills, each with its texts, which other parts hold too: some thousands."""

TRIES = 3
"""Openings of an index whose files change meanwhile, before it is done without the index."""


class Snapshot:
    """One generation of the catalog."""

    def __init__(self, catalog: Catalog, whole: Catalog, generation: int) -> None:
        self.whole = whole
        """Every skill, in memory."""
        self.generation = generation
        """1 for the first; grows by one with each change."""
        self.digest = whole.digest
        self.identity = whole.identity
        """Names what any search of it answers: two snapshots with one identity answer alike."""
        self.hits: LruBytes[str, tuple[Skill, Hit]] = LruBytes(HITS_BYTES)
        """The skills that were found last, as a search shows them; see ``local.hit_of``."""
        self.shelf: BrowseIndex | None = None
        """Made when somebody first leafs through the skills; see ``shelf.browse_index_of``."""
        self._catalog = catalog
        self.used = {DEFAULT_SCORER}
        """Names of the scorers that have ranked it: those that the next one is made ready for."""
        self._binding = Lock()
        self._bound: set[str] = set()

    def ranked_by(self, scorer: str) -> Catalog:
        """Give the catalog to rank with a scorer. Raises UnknownName, InvalidInput."""
        catalog = self._catalog if scorer == DEFAULT_SCORER else self.whole
        if scorer in self._bound:  # to find that out by the scorer is to hash all its constants
            return catalog
        resolved = resolve(scorer)
        with self._binding:
            bind(catalog, resolved)  # once; whoever comes meanwhile waits instead of repeating
        self._bound.add(scorer)
        self.used.add(scorer)
        return catalog

    def make_ready(self, scorers: Iterable[str]) -> None:
        """Bind the scorers before the first request comes."""
        for scorer in sorted(scorers):
            self.ranked_by(scorer)

    @property
    def is_indexed(self) -> bool:
        """True where an index on disk ranks it."""
        return isinstance(self._catalog, IndexedCatalog)

    def _same_index(self, other: Catalog) -> bool:
        """True when the other catalog stands over the very index of this snapshot."""
        mine = self._catalog
        return (
            isinstance(mine, IndexedCatalog)
            and isinstance(other, IndexedCatalog)
            and _generation(mine) == _generation(other)
        )

    def changed(self, open_anew: Callable[[], Catalog]) -> Catalog | None:
        """Return the catalog of the files now, None when it is this one. Raises SkillyardError."""
        if isinstance(self._catalog, IndexedCatalog):
            if self._catalog.is_current():
                return None
            catalog = open_anew()
            return None if self._same_index(catalog) else catalog
        after = self.whole.reload().catalog
        return None if after is self.whole else after


def _generation(catalog: IndexedCatalog) -> tuple[int, str]:
    return catalog.library.searcher.generation, catalog.summary.fingerprint


def snapshot_of(
    catalog: Catalog,
    generation: int,
    opened: Callable[[], Catalog],
    before: Catalog | None = None,
) -> Snapshot:
    """Return the catalog with every skill in memory, and no index that says something else.

    ``before`` is the one with every skill in memory of the snapshot that was there before.
    An index whose files change while they are read is opened again; in the end it is done without.
    """
    whole = catalog
    for _ in range(TRIES):
        if not isinstance(catalog, IndexedCatalog):
            whole = catalog
            break
        whole = catalog.full_catalog(before)
        if _agree(catalog, whole):
            _ = catalog.skills  # what loads when first asked for is loaded by this thread alone
            return Snapshot(catalog, whole, generation)
        catalog = opened()
    return Snapshot(whole, whole, generation)


def _agree(catalog: IndexedCatalog, whole: Catalog) -> bool:
    """True when the index was made from the very files that were read for the catalog."""
    hashes = {skill.path: skill.hash for skill in whole.skills}
    seen = 0
    for ordinal in catalog.library.searcher.ordinals():
        card = catalog.library.card(ordinal)
        if hashes.get(card.path) != card.hash:
            return False
        seen += 1
    return seen == len(hashes)
