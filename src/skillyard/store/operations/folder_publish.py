"""Publish skill folders to a store: worker processes read them, and batches become generations.

An acknowledged batch stays, so an interrupted publish can be repeated.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import Annotated, Any, Literal, NamedTuple

from skillyard.base.errors import Diagnostic, StoreRefused
from skillyard.base.io.workers import Workers
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.shapes import Schema, details
from skillyard.engine.discovery.layout import Candidate
from skillyard.store.folders import (
    BuiltRow,
    StoreFile,
    build_rows,
    place_of,
    rejected,
    skill_files,
)
from skillyard.store.identifiers import (
    checked_durability,
    checked_key,
    checked_namespace,
    checked_number,
    checked_tenant,
    checked_words,
)
from skillyard.store.rows import StoredRow
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import Durability, Published, StoreKey

WAIT_S = 120.0
"""Longest that a statement of a publish may take: it may have to wait for other writers."""
BATCH = 2_000
"""Skills of one generation: about a second of work. A killed run loses at most two batches."""
MAX_BATCH_CHARS = 67_108_864
"""Total bytes of the texts of one batch. Two thousand skills of usual size have a quarter of it."""
QUERY_SIZE = 500
"""Skill files whose stored state is requested in one query."""
TASK_SIZE = 50
"""Skill files in one task of a worker."""
PRUNE_SIZE = 10_000
"""Places in one page of pruning."""
MAX_DIAGNOSTICS = 1_000
"""Maximum number of reported errors; further ones are only counted."""
_MAX_JOBS = 256
_MAX_BATCH = 100_000
_COUNTED = (
    *("generations", "added", "changed", "unchanged", "withdrawn"),
    *("refused", "repeated", "warnings"),
)
_HARMLESS = frozenset({"file_name_case"})
"""Diagnostics of discovery about files that were found nevertheless."""


class PublishOptions(NamedTuple):
    """The options of publishing folders."""

    tenant: str
    publisher: str
    namespace: str = ""
    source: str = ""
    """The source of the skills, which pruning considers."""
    durability: Durability = "local"
    jobs: int = 1
    """Number of worker processes; 1 uses this process. Workers import the main module of the
    program again, so it must guard its code with ``if __name__ == "__main__":``."""
    batch: int = BATCH
    prune: bool = False
    """Withdraw the skills of this namespace and source that the run did not find."""
    dry_run: bool = False


class Step(NamedTuple):
    """The progress of a publish."""

    done: int
    """Number of skill files that are read."""
    published: int
    generation: int
    """The last acknowledged generation; 0 before the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorePublished:
    """The result of a publish, or of its dry run, in skills."""

    schema: Schema[Literal["skillyard.store-publish/1"]] = "skillyard.store-publish/1"
    store: Annotated[str, "Its address, without credentials."]
    tenant: Annotated[str, "The owner of the skills."]
    dry_run: Annotated[bool, "True where nothing was published."]
    generation: Annotated[int, "The last one of this run, else that of the store."]
    generations: Annotated[int, "How many this run made."]
    added: Annotated[int, "New."]
    changed: Annotated[int, "With a new version."]
    unchanged: Annotated[int, "Published already."]
    withdrawn: Annotated[int, "No longer there, and withdrawn."]
    refused: Annotated[int, "Unreadable, invalid, or in the place of another one."]
    repeated: Annotated[int, "Met a second time with the same content."]
    warnings: Annotated[int, "Remarks on published skills."]
    complete: Annotated[bool, "False when it was stopped."]
    pruned: Annotated[bool, "True where skills that were not met were withdrawn."]
    diagnostics: Annotated[tuple[details.DiagnosticDocument, ...], "The first errors."]
    left_out: Annotated[int, "Errors that are not among them."]
    seconds: Annotated[float, "How long it took."]


def publish_folders(
    store: CatalogStore,
    roots: Sequence[str],
    options: PublishOptions,
    *,
    stop: threading.Event | None = None,
    tell: Callable[[Step], None] = lambda step: None,
) -> StorePublished:
    """Publish the skills below the roots.

    An invalid file becomes a diagnostic and does not stop the run. Unchanged skills are not sent.
    Of two skills with one key the first one counts, and so does the first of several copies of one
    file. ``stop`` ends the run after the batch in progress. ``tell`` is called after each batch and
    sometimes in between.

    Raises InvalidInput and InvalidSkillsRoot before anything is published, and StoreFailed and
    WorkerLost during the run: acknowledged batches stay, and the same call continues from there.
    """
    _check(options)
    run = _Run(store, options, stop or threading.Event(), tell)
    with Workers(options.jobs) as workers:
        return run.whole(workers, skill_files(roots, DEFAULT_LIMITS))


def _check(options: PublishOptions) -> None:
    checked_tenant(options.tenant)
    checked_namespace(options.namespace)
    checked_words("publisher", options.publisher)
    checked_durability(options.durability)
    checked_number("jobs", options.jobs, _MAX_JOBS)
    checked_number("batch", options.batch, _MAX_BATCH)


@dataclass
class _Run:
    _store: CatalogStore
    _options: PublishOptions
    _stop: threading.Event
    _tell: Callable[[Step], None]
    _began: float = field(default_factory=time.monotonic)
    _counts: Counter[str] = field(default_factory=Counter)
    _generation: int = 0
    _diagnostics: list[Diagnostic] = field(default_factory=list)
    _digests: dict[bytes, str] = field(default_factory=dict)
    """The content digest of each key that was met, by a short digest of the key: a million
    take about 250 MB."""
    _files: set[str] = field(default_factory=set)
    """SHA-256 of each skill file that was met."""
    _rows: list[StoredRow] = field(default_factory=list)
    _chars: int = 0

    def whole(
        self, workers: Workers, candidates: Iterable[Candidate | Diagnostic]
    ) -> StorePublished:
        flying: deque[Callable[[], list[BuiltRow]]] = deque()
        keyed = self._with_keys(candidates)
        while (group := list(islice(keyed, QUERY_SIZE))) and not self._stop.is_set():
            standing = self._store.standing(key for _, key in group)
            files = [StoreFile(candidate, key, standing.get(key)) for candidate, key in group]
            for first in range(0, len(files), TASK_SIZE):
                task = files[first : first + TASK_SIZE]
                flying.append(
                    workers.submit(
                        *(build_rows, task, DEFAULT_LIMITS, self._store.address),
                        here=len(group) < QUERY_SIZE,
                    )
                )
                if len(flying) > 2 * self._options.jobs:
                    self._collect(flying.popleft()())
        while flying and not self._stop.is_set():
            self._collect(flying.popleft()())
        complete = not self._stop.is_set()
        if complete and self._rows:
            self._send()
        faults = self._counts["errors"] + self._counts["faults"]
        pruned = complete and self._options.prune and not faults and self._prune()
        if complete and self._options.prune and not faults:
            complete = pruned
        return self._summary(complete, pruned)

    def _with_keys(
        self, candidates: Iterable[Candidate | Diagnostic]
    ) -> Iterator[tuple[Candidate, StoreKey]]:
        options = self._options
        for candidate in candidates:
            if isinstance(candidate, Diagnostic):
                # The folder could not be read, so its skills must not count as removed.
                self._counts["faults"] += candidate.code not in _HARMLESS
                self._add_diagnostic(candidate)
                continue
            key = StoreKey(options.tenant, options.namespace, options.source, place_of(candidate))
            try:
                yield candidate, checked_key(key, self._store.address)
            except StoreRefused as error:
                self._refuse(rejected(key, candidate.path, error))

    def _collect(self, results: Sequence[BuiltRow]) -> None:
        """Count the results of the workers, and publish their rows when they fill a batch."""
        for result in results:
            if not result.digest:
                self._refuse(result)
                continue
            for diagnostic in result.diagnostics:
                self._add_diagnostic(diagnostic)
            known = self._digests.get(_short_digest(result.key))
            if result.file in self._files or known == result.digest:
                self._count("repeated")  # of copies only the first counts
            elif known is not None:
                self._refuse(_duplicate(result))
            else:
                self._digests[_short_digest(result.key)] = result.digest
                self._files.add(result.file)
                if result.row is None:
                    self._count("unchanged")
                else:
                    self._add_row(result.row)
        self._report_progress()

    def _add_row(self, row: StoredRow) -> None:
        self._rows.append(row)
        self._chars += len(row.document) + len(row.body or "") + len(row.files)
        if len(self._rows) >= self._options.batch or self._chars >= MAX_BATCH_CHARS:
            self._send()

    def _send(self) -> None:
        rows, self._rows, self._chars = self._rows, [], 0
        self._counts["done"] += len(rows)
        if self._options.dry_run:
            there = self._store.standing(self._key(row) for row in rows)
            changed = sum(self._key(row) in there for row in rows)
            self._counts.update(added=len(rows) - changed, changed=changed)
        else:
            options = self._options
            published = self._store.publish(
                rows,
                tenant=options.tenant,
                publisher=options.publisher,
                namespace=options.namespace,
                durability=options.durability,
            )
            self._add(published)
        self._report_progress()

    def _key(self, row: StoredRow) -> StoreKey:
        return StoreKey(self._options.tenant, row.namespace, row.source, row.place)

    def _add(self, published: Published) -> None:
        counts = published._asdict()
        generation = counts.pop("generation")
        self._counts.update(counts)
        if published.added or published.changed or published.withdrawn:
            self._generation = generation
            self._counts["generations"] += 1

    def _prune(self) -> bool:
        """Withdraw the stored skills of the namespace and source that the run did not find.

        Each page of places is at most one generation. Returns False when it was stopped between two
        pages. A dry run only counts.
        """
        options, after = self._options, ""
        tenant, namespace, source = options.tenant, options.namespace, options.source
        while not self._stop.is_set():
            places = self._store.places(
                tenant, namespace=namespace, source=source, after=after, limit=PRUNE_SIZE
            )
            keys = (StoreKey(tenant, namespace, source, place) for place in places)
            gone = [key for key in keys if _short_digest(key) not in self._digests]
            if gone and options.dry_run:
                self._counts["withdrawn"] += len(gone)
            elif gone:
                published = self._store.withdraw(
                    gone,
                    tenant=tenant,
                    publisher=options.publisher,
                    durability=options.durability,
                )
                self._add(published._replace(unchanged=0))
            if len(places) < PRUNE_SIZE:
                return True
            after = places[-1]
        return False

    def _count(self, kind: str) -> None:
        self._counts.update((kind, "done"))

    def _refuse(self, result: BuiltRow) -> None:
        self._count("refused")
        for diagnostic in result.diagnostics:
            self._add_diagnostic(diagnostic)

    def _add_diagnostic(self, diagnostic: Diagnostic) -> None:
        if diagnostic.severity != "error":
            self._counts["warnings"] += 1
            return
        self._counts["errors"] += 1
        if len(self._diagnostics) < MAX_DIAGNOSTICS:
            self._diagnostics.append(diagnostic)

    def _report_progress(self) -> None:
        counts = self._counts
        self._tell(Step(counts["done"], counts["added"] + counts["changed"], self._generation))

    def _summary(self, complete: bool, pruned: bool) -> StorePublished:
        counts, options = self._counts, self._options
        counted: dict[str, Any] = {name: counts[name] for name in _COUNTED}
        return StorePublished(
            store=self._store.address,
            tenant=options.tenant,
            dry_run=options.dry_run,
            generation=self._generation or self._store.generation(),
            **counted,
            complete=complete,
            pruned=pruned,
            diagnostics=tuple(each.document() for each in self._diagnostics),
            left_out=counts["errors"] - len(self._diagnostics),
            seconds=round(time.monotonic() - self._began, 3),
        )


def _short_digest(key: StoreKey) -> bytes:
    """Return 16 bytes that identify a key: a collision needs about 2**64 attempts."""
    return sha256("\0".join(key).encode("utf-8", "surrogatepass")).digest()[:16]


def _duplicate(result: BuiltRow) -> BuiltRow:
    diagnostic = Diagnostic(
        "place_taken",
        "error",
        result.path,
        f"another skill was met as {result.key} before",
        "give one of them another path or source; the first one counts",
    )
    return BuiltRow(result.key, result.path, diagnostics=(diagnostic,))
