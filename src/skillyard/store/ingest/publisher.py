"""Publishes rows to a store in batches, while the next ones are prepared."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from skillyard.base.errors import Diagnostic, StoreRefused
from skillyard.base.io.closeable import Closeable
from skillyard.store.ingest.work_items import Options
from skillyard.store.protocol import CatalogStore
from skillyard.store.rows import StoredRow
from skillyard.store.values import Published, StoreKey

MAX_BATCH_CHARS = 67_108_864
"""Total bytes of the texts of one batch. Two thousand skills of usual size have a quarter of it."""


@dataclass(slots=True)
class PublishCounts:
    """Numbers of acknowledged skills."""

    generation: int = 0
    generations: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    withdrawn: int = 0
    refused: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def outcomes(self) -> int:
        """Number of submitted skills that are acknowledged or refused."""
        return self.added + self.changed + self.unchanged + self.refused

    def add(self, published: Published) -> None:
        """Count one acknowledged change."""
        self.added += published.added
        self.changed += published.changed
        self.unchanged += published.unchanged
        self.withdrawn += published.withdrawn
        if published.added or published.changed or published.withdrawn:
            self.generation = published.generation
            self.generations += 1


class Publisher(Closeable):
    """Publishes in its own thread, one batch at a time; at most two batches are in memory.

    ``add`` and ``finish`` raise the errors of publishing. A dry run only counts.
    """

    def __init__(self, store: CatalogStore, options: Options) -> None:
        self.store = store
        self.options = options
        self.counts = PublishCounts()
        self._rows: list[tuple[StoredRow, bool]] = []
        self._chars = 0
        self._thread = ThreadPoolExecutor(1, "publisher")
        self._under_way: Future[None] | None = None

    def add(self, row: StoredRow, *, placed: bool) -> None:
        """Add a row. ``placed`` says that it was compared with the stored version."""
        self._rows.append((row, placed))
        self._chars += len(row.document) + len(row.body or "") + len(row.files)
        if len(self._rows) >= self.options.batch or self._chars >= MAX_BATCH_CHARS:
            self._send()

    def finish(self, *, send: bool) -> None:
        """Wait until every row is acknowledged. Without ``send``, unsent batches are dropped."""
        if send and self._rows:
            self._send()
        self._rows = []
        self._wait()

    def _send(self) -> None:
        rows, self._rows, self._chars = self._rows, [], 0
        self._wait()
        self._under_way = self._thread.submit(self._publish, rows)

    def _wait(self) -> None:
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def _publish(self, batch: Sequence[tuple[StoredRow, bool]]) -> None:
        rows = self._new([row for row, placed in batch if not placed])
        rows += [row for row, placed in batch if placed]
        if not rows:
            return
        if self.options.dry_run:
            there = self.store.standing(self._key(row) for row in rows)
            changed = sum(self._key(row) in there for row in rows)
            self.counts.added += len(rows) - changed
            self.counts.changed += changed
        else:
            self._publish_valid(rows)

    def _new(self, rows: Sequence[StoredRow]) -> list[StoredRow]:
        """Return the rows that differ from the stored versions."""
        there = self.store.standing(self._key(row) for row in rows) if rows else {}
        new = []
        for row in rows:
            stands = there.get(self._key(row))
            if stands is None or (stands.digest, stands.installs) != (row.digest, row.installs):
                new.append(row)
        self.counts.unchanged += len(rows) - len(new)
        return new

    def _publish_valid(self, rows: Sequence[StoredRow]) -> None:
        """Publish rows. When the store refuses one of them, publish the others."""
        try:
            self.counts.add(self._publish_rows(rows))
        except StoreRefused as error:
            self._publish_rows([])  # raises when the store refuses every publish
            if len(rows) > 1:
                half = len(rows) // 2
                self._publish_valid(rows[:half])
                self._publish_valid(rows[half:])
                return
            self.counts.refused += 1
            key = str(self._key(rows[0]))
            self.counts.diagnostics.append(
                Diagnostic("store_refused", "error", key, error.what, error.hint)
            )

    def _publish_rows(self, rows: Sequence[StoredRow]) -> Published:
        return self.store.publish(
            rows,
            tenant=self.options.tenant,
            publisher=self.options.publisher,
            namespace=self.options.namespace,
            durability=self.options.durability,
        )

    def _key(self, row: StoredRow) -> StoreKey:
        return StoreKey(self.options.tenant, row.namespace, row.source, row.place)

    def close(self) -> None:
        """Stop the thread."""
        self._thread.shutdown()
