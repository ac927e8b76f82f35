"""One ingest run: items go to workers, rows to the store, and both are counted.

The main thread distributes items, worker processes read them, and one more thread publishes a
batch while the next one is prepared. All queues are bounded.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing

from skillyard.base.errors import Diagnostic, InvalidInput, StoreRefused
from skillyard.base.io.workers import Workers
from skillyard.store.identifiers import (
    checked_durability,
    checked_key,
    checked_namespace,
    checked_publisher,
    checked_tenant,
)
from skillyard.store.ingest import folders
from skillyard.store.ingest.lines import Lines
from skillyard.store.ingest.pruning import prune
from skillyard.store.ingest.publisher import Publisher
from skillyard.store.ingest.row_builder import build_rows, refusal
from skillyard.store.ingest.seen_keys import SeenKeys
from skillyard.store.ingest.work_items import (
    BuildSettings,
    BuiltRow,
    IngestResult,
    Item,
    Options,
    Step,
)
from skillyard.store.protocol import CatalogStore
from skillyard.store.values import Standing, StoreKey

Tell = Callable[[Step], None]

QUERY_ITEMS = 500
"""Items whose stored state is requested in one query."""
MAX_QUERY_BYTES = 33_554_432
"""Total bytes of the items of one query; lines are in memory until they are read."""
BATCH_ITEMS = 50
BATCH_BYTES = 8_388_608
"""Items, and their bytes, in one task of a worker; a single item may be larger."""
MAX_DIAGNOSTICS = 1_000
"""Maximum number of reported errors; further ones are only counted."""
_MAX_JOBS = 256
_MAX_BATCH = 100_000
_HARMLESS = frozenset({"file_name_case"})
"""Diagnostics of discovery about files that were found nevertheless."""


def ingest(
    store: CatalogStore,
    options: Options,
    *,
    roots: Sequence[str] = (),
    lines: Sequence[str] = (),
    stop: threading.Event | None = None,
    tell: Tell | None = None,
) -> IngestResult:
    """Publish the skills below the roots, then those of the files of JSON lines.

    An invalid file or line becomes a diagnostic and does not stop the run. Unchanged skills are
    neither parsed nor sent. Of two items with one key the first one counts, and so does the first
    of several copies of one file below the roots (within one partition). ``stop`` ends the run
    after the batch in progress. ``tell`` is called after each batch and sometimes in between; with
    it, the skills below the roots are counted first in a separate walk.

    Raises InvalidInput and InvalidSkillsRoot before anything is published, and StoreFailed and
    WorkerLost during the run: acknowledged batches stay, and the same call continues from there.
    """
    _check(options)
    opened = Lines(lines)
    run = _Run(store, options, opened, stop or threading.Event(), tell)
    with (
        closing(run.seen),
        Workers(options.jobs) as workers,
        Publisher(store, options) as publisher,
    ):
        if tell is not None and roots:
            run.expected = folders.count(roots, options.limits, run.stop)
        return run.whole(workers, publisher, _items(roots, opened, options))


def _items(roots: Sequence[str], lines: Lines, options: Options) -> Iterator[Item | Diagnostic]:
    if roots:
        yield from folders.items(roots, options.source, options.limits)
    yield from lines.items(options.source)


def _check(options: Options) -> None:
    checked_tenant(options.tenant)
    checked_namespace(options.namespace)
    checked_publisher(options.publisher)
    checked_durability(options.durability)
    for name, value, most in (
        ("jobs", options.jobs, _MAX_JOBS),
        ("batch", options.batch, _MAX_BATCH),
    ):
        if type(value) is not int or not 1 <= value <= most:
            raise InvalidInput(f"{name} must be a whole number from 1 to {most:,}")


class _Run:
    """The state of one run."""

    def __init__(
        self,
        store: CatalogStore,
        options: Options,
        lines: Lines,
        stop: threading.Event,
        tell: Tell | None,
    ) -> None:
        self.seen = SeenKeys()
        self.expected = 0
        self._store = store
        self._options = options
        self._build_settings = BuildSettings(
            options.tenant, options.namespace, options.limits, store.address
        )
        self._lines = lines
        self.stop = stop
        self._tell = tell
        self._began = time.monotonic()
        self._outcomes = self._unchanged = self._refused = self._repeated = self._elsewhere = 0
        self._errors = self._warnings = self._faults = 0
        self._diagnostics: list[Diagnostic] = []

    def whole(
        self, workers: Workers, publisher: Publisher, items: Iterable[Item | Diagnostic]
    ) -> IngestResult:
        """Run the whole ingest."""
        flying: deque[Callable[[], list[BuiltRow]]] = deque()
        for group in _groups(self._mine(items), QUERY_ITEMS, MAX_QUERY_BYTES):
            standing = self._standing(group)
            small = len(group) < QUERY_ITEMS
            for errand in _groups(group, BATCH_ITEMS, BATCH_BYTES):
                work = [(item, standing.get(self._key(item))) for item in errand]
                flying.append(workers.submit(build_rows, self._build_settings, work, here=small))
                if len(flying) > 2 * self._options.jobs:
                    self._collect(flying.popleft()(), publisher)
            if self.stop.is_set():
                break
        while flying and not self.stop.is_set():
            self._collect(flying.popleft()(), publisher)
        complete = not self.stop.is_set()
        publisher.finish(send=complete)
        self._report_progress(publisher)
        faultless = not (self._errors or self._faults or publisher.counts.refused)
        if complete and self._options.prune and faultless:
            complete = prune(publisher, self.seen, self.stop)
            return self._summary(publisher, complete, pruned=complete)
        return self._summary(publisher, complete, pruned=False)

    def _key(self, item: Item) -> StoreKey:
        return StoreKey(
            self._options.tenant, self._options.namespace, item.source, item.place or ""
        )

    def _mine(self, items: Iterable[Item | Diagnostic]) -> Iterator[Item]:
        """Yield the items of this run's partition; count the others."""
        for item in items:
            if isinstance(item, Diagnostic):
                # The folder could not be read, so its skills must not count as removed.
                self._faults += item.code not in _HARMLESS
                self._add_diagnostic(item)
                if item.line is not None:
                    self._outcomes += 1
                    self._refused += 1
                continue
            if item.place is not None:
                try:
                    key = checked_key(self._key(item), self._store.address)
                except StoreRefused as error:
                    self._refuse(refusal(item, "store_refused", error.what, error.hint))
                    continue
                if not self._belongs(key):
                    continue
            yield item

    def _belongs(self, key: StoreKey) -> bool:
        partition = self._options.partition
        if partition is None or partition.holds(key):
            return True
        self._elsewhere += 1
        self._outcomes += 1
        return False

    def _standing(self, group: Sequence[Item]) -> dict[StoreKey, Standing]:
        return self._store.standing(self._key(item) for item in group if item.place is not None)

    def _collect(self, results: Sequence[BuiltRow], publisher: Publisher) -> None:
        """Count the results of the workers, and pass their rows to the publisher."""
        for one in results:
            if not one.digest:
                self._refuse(one)
                continue
            for diagnostic in one.diagnostics:
                self._add_diagnostic(diagnostic)
            key = self._key(one.item._replace(place=one.place))
            if one.item.place is None and not self._belongs(key):
                continue
            if one.file and self.seen.has_file(one.file):  # of copies only the first counts
                self._outcomes += 1
                self._repeated += 1
                continue
            state = self.seen.add(key, one.digest)
            if state == "new" and one.file:
                self.seen.add_file(one.file)
            if state == "new" and one.row is not None:
                publisher.add(one.row, placed=one.item.place is not None)
                continue
            self._outcomes += 1
            if state == "new":
                self._unchanged += 1
            elif state == "same":
                self._repeated += 1
            else:
                self._outcomes -= 1
                self._refuse(_duplicate(one.item, key))
        self._report_progress(publisher)

    def _refuse(self, one: BuiltRow) -> None:
        self._outcomes += 1
        self._refused += 1
        for diagnostic in one.diagnostics:
            self._add_diagnostic(diagnostic)

    def _add_diagnostic(self, diagnostic: Diagnostic) -> None:
        if diagnostic.severity != "error":
            self._warnings += 1
            return
        self._errors += 1
        if len(self._diagnostics) < MAX_DIAGNOSTICS:
            self._diagnostics.append(diagnostic)

    def _report_progress(self, publisher: Publisher) -> None:
        if self._tell is None:
            return
        counts = publisher.counts
        lines = self._lines.total
        self._tell(
            Step(
                self._outcomes + counts.outcomes,
                None if lines is None else self.expected + lines,
                counts.added + counts.changed,
                self._unchanged + counts.unchanged,
                self._refused + counts.refused,
                counts.generation,
            )
        )

    def _summary(self, publisher: Publisher, complete: bool, *, pruned: bool) -> IngestResult:
        counts = publisher.counts
        for diagnostic in counts.diagnostics:
            self._add_diagnostic(diagnostic)
        return IngestResult(
            counts.generation or self._store.generation(),
            counts.generations,
            counts.added,
            counts.changed,
            self._unchanged + counts.unchanged,
            counts.withdrawn,
            self._refused + counts.refused,
            self._repeated,
            self._elsewhere,
            self._warnings,
            complete,
            pruned,
            tuple(self._diagnostics),
            self._errors - len(self._diagnostics),
            time.monotonic() - self._began,
        )


def _groups(items: Iterable[Item], most: int, most_bytes: int) -> Iterator[list[Item]]:
    """Yield the items in non-empty groups, limited by number and by bytes."""
    group: list[Item] = []
    size = 0
    for item in items:
        group.append(item)
        size += item.size
        if len(group) == most or size >= most_bytes:
            yield group
            group, size = [], 0
    if group:
        yield group


def _duplicate(item: Item, key: StoreKey) -> BuiltRow:
    return refusal(
        item,
        "place_taken",
        f"another skill was met as {key} before",
        "give one of them another path or source; the first one counts",
    )
