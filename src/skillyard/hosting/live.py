"""The catalog as it is now: opened once, looked at again at most once a second.

A request takes one :class:`Snapshot` and answers from it alone. Everything that an answer may show
is in memory when a snapshot is made, so files that change meanwhile cannot mix into it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from threading import Lock

from skillyard.catalog import Catalog
from skillyard.hosting.errors import unavailable
from skillyard.hosting.logging import Log
from skillyard.hosting.options import ServiceOptions
from skillyard.index.indexed import IndexedCatalog, open_catalog
from skillyard.index.records import card_in
from skillyard.ranking.registry import DEFAULT_SCORER, bind, resolve
from skillyard.skill import Skill
from skillyard.sources.protocol import Hit

__all__ = ["LiveCatalog", "Snapshot"]

TRIES = 3
"""Openings of an index whose files change meanwhile, before it is done without the index."""
OLD_S = 5.0
"""After so long without a look, a request waits for one instead of answering from before."""
MOST_LOOKING = 0.1
"""Of the time, that looking at the files may take: a library of 10,000 files takes 0.2 s a look."""
PATIENCE_S = 1.0
"""How long it waits; a large library that is being indexed answers from before all the same."""


class Snapshot:
    """One generation of the catalog."""

    def __init__(self, catalog: Catalog, whole: Catalog, generation: int) -> None:
        self.whole = whole
        """Every skill, in memory."""
        self.generation = generation
        """1 for the first; grows by one with each change."""
        self.digest = whole.digest
        self.identity = _identity(whole)
        """Names what any search of it answers: two snapshots with one identity answer alike."""
        self.hits: dict[str, tuple[Skill, Hit]] = {}
        """The skills that were found so far, as a search shows them; see ``local.hit_of``."""
        self._catalog = catalog
        self.used = {DEFAULT_SCORER}
        """Names of the scorers that have ranked it: those that the next one is made ready for."""
        self._binding = Lock()

    def ranked_by(self, scorer: str) -> Catalog:
        """Give the catalog to rank with a scorer. Raises UnknownName, InvalidInput."""
        resolved = resolve(scorer)
        catalog = self._catalog if scorer == DEFAULT_SCORER else self.whole
        with self._binding:
            bind(catalog, resolved)  # once; whoever comes meanwhile waits instead of repeating
        self.used.add(scorer)
        return catalog

    def make_ready(self, scorers: Iterable[str]) -> None:
        """Bind the scorers before the first request comes."""
        for scorer in sorted(scorers):
            self.ranked_by(scorer)

    def _same_index(self, other: Catalog) -> bool:
        """True when the other catalog stands over the very index of this snapshot."""
        mine = self._catalog
        return (
            isinstance(mine, IndexedCatalog)
            and isinstance(other, IndexedCatalog)
            and _generation(mine) == _generation(other)
        )

    def changed(self, opened: Callable[[], Catalog]) -> Catalog | None:
        """Return the catalog of the files now, None when it is this one. Raises SkillyardError."""
        if isinstance(self._catalog, IndexedCatalog):
            if self._catalog.is_current():
                return None
            found = opened()
            return None if self._same_index(found) else found
        after = self.whole.reload().catalog
        return None if after is self.whole else after


def _identity(whole: Catalog) -> str:
    """Return a hash over the digest and what it does not tell: which skill of a name wins."""
    shadowed = whole.shadowed
    listed = "".join(f"\n{skill.hash}{'-' * (skill in shadowed)}" for skill in whole.skills)
    return sha256((whole.digest + listed).encode("utf-8", "surrogatepass")).hexdigest()


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
        whole = catalog.whole(before)
        if _agree(catalog, whole):
            _ = catalog.skills  # what loads when first asked for is loaded by this thread alone
            return Snapshot(catalog, whole, generation)
        catalog = opened()
    return Snapshot(whole, whole, generation)


def _agree(catalog: IndexedCatalog, whole: Catalog) -> bool:
    """True when the index was made from the very files that were read for the catalog."""
    hashes = {skill.path: skill.hash for skill in whole.skills}
    searcher = catalog.library.searcher
    seen = 0
    for ordinal in searcher.ordinals():
        card = card_in(searcher.record(ordinal))
        if hashes.get(card.path) != card.hash:
            return False
        seen += 1
    return seen == len(hashes)


class LiveCatalog:
    """Holds the newest snapshot. Belongs to one event loop; reads files in a thread of its own."""

    def __init__(
        self, options: ServiceOptions, log: Log, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._options = options
        self._log = log
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="skillyard-files")
        self._held: Snapshot | None = None
        self._looked = float("-inf")
        self._took = 0.0
        """Seconds of the last look that found nothing new."""
        self._looking: asyncio.Task[None] | None = None
        self.failure = ""
        """The kind of what went wrong with the last look; empty when nothing did."""
        self.reloads = 0
        """How often the files had changed."""

    @property
    def held(self) -> Snapshot | None:
        """The newest snapshot, None before the first."""
        return self._held

    async def current(self) -> Snapshot:
        """Return the newest snapshot. Raises Refused (503) when there is none."""
        age = self._clock() - self._looked
        looking = self.poke()
        if self._held is None and looking is not None:
            await asyncio.wait({looking})
        elif age > OLD_S and looking is not None:
            await asyncio.wait({looking}, timeout=PATIENCE_S)
        if self._held is None:
            raise unavailable()
        return self._held

    def poke(self) -> asyncio.Task[None] | None:
        """Look at the files if that is due; return the look that is on its way, if there is one."""
        pause = max(self._options.limits.look_s, self._took / MOST_LOOKING)
        due = self._clock() - self._looked >= pause
        return self.look() if due else self._looking

    def look(self) -> asyncio.Task[None]:
        """Start to look at the files, or return the look that is on its way."""
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look())
        return self._looking

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        started = self._clock()
        try:
            found = await loop.run_in_executor(self._thread, self._newer)
        except Exception as error:  # noqa: BLE001 - what is held goes on answering, whatever it was
            self._note_failure(error)
        else:
            self.failure = ""
            if found is None:
                self._took = self._clock() - started
            else:
                self._note(found)
        finally:
            self._looked = self._clock()
            self._looking = None

    def _newer(self) -> Snapshot | None:
        """Return a snapshot of the files now, None when nothing changed."""
        held = self._held
        if held is None:
            first = snapshot_of(self._open(), 1, self._open)
            first.make_ready(first.used)
            return first
        changed = held.changed(self._open)
        if changed is None:
            return None
        found = snapshot_of(changed, held.generation + 1, self._open, held.whole)
        found.make_ready(held.used)
        if found.digest == held.digest:
            found.generation = held.generation
        return found

    def _open(self) -> Catalog:
        return open_catalog(self._options.roots, scopes=self._options.scopes, look=True)

    def _note(self, found: Snapshot) -> None:
        before, self._held = self._held, found
        if before is not None and before.generation == found.generation:
            return  # the same content under a newer index: nothing that anybody would notice
        self.reloads += before is not None
        self._log.write(
            "catalog",
            skills=len(found.whole),
            generation=found.generation,
            digest=found.digest[:16],
        )

    def _note_failure(self, error: Exception) -> None:
        kind = getattr(error, "code", "") or type(error).__name__
        if kind != self.failure:
            self._log.write("catalog", "error", error=str(error))
        self.failure = kind

    async def close(self) -> None:
        """Wait for the look on its way, and end the thread."""
        if self._looking is not None:
            await asyncio.wait({self._looking})
        self._thread.shutdown(wait=True)
