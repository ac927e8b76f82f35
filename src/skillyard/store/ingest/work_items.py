"""The values of an ingest: options, items, built rows, progress and the result."""

from __future__ import annotations

from typing import Any, NamedTuple

from skillyard.discovery import Candidate
from skillyard.errors import Diagnostic
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.store.ingest.partition import Partition
from skillyard.store.rows import StoredRow
from skillyard.store.values import Durability

__all__ = ["BuildSettings", "BuiltRow", "Ingested", "Item", "Options", "Step"]

BATCH = 2_000
"""Skills of one generation: about a second of work, and what a killed run loses at most, twice."""


class Options(NamedTuple):
    """The options of an ingest."""

    tenant: str
    publisher: str
    namespace: str = ""
    source: str = ""
    """The default source of skills, and the source that pruning considers."""
    durability: Durability = "local"
    jobs: int = 1
    """Worker processes; 1: this process does the work itself. More of them import the program's
    main module anew, so that it must guard what it does (``if __name__ == "__main__":``)."""
    batch: int = BATCH
    partition: Partition | None = None
    """Only this part of the keys; None: all of them."""
    prune: bool = False
    """Withdraw the skills of this namespace and source that the run did not meet."""
    dry_run: bool = False
    limits: Limits = DEFAULT_LIMITS


class Item(NamedTuple):
    """One skill file or line, before it is parsed."""

    shown: str
    """The file as diagnostics name it."""
    line: int | None
    """1-based, in a file of JSON lines."""
    source: str
    place: str | None
    """Its place in the store; None when only its text decides."""
    size: int
    """Bytes of the file or of the line."""
    what: Candidate | dict[str, Any]
    """The file of a folder, or the object of a line."""


class BuildSettings(NamedTuple):
    """The settings of a worker."""

    tenant: str
    namespace: str
    limits: Limits
    store: str
    """Its address without credentials, for messages."""


class BuiltRow(NamedTuple):
    """The result of one item: a row, or nothing because it is unchanged or invalid."""

    item: Item
    place: str
    digest: str
    """The content digest as in the store; empty for a rejected item."""
    row: StoredRow | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    file: str = ""
    """SHA-256 of a file below a root; empty for a JSON line."""


class Step(NamedTuple):
    """The progress of an ingest."""

    done: int
    """Skills that were looked at and settled, those of other partitions included."""
    total: int | None
    """How many there are, as far as known: of JSON lines estimated from the bytes read."""
    published: int
    unchanged: int
    refused: int
    generation: int
    """The last one that was acknowledged; 0 before the first."""


class Ingested(NamedTuple):
    """The result of an ingest, in skills. A dry run reports what it would have done."""

    generation: int
    """The last one of this run, or the store's last one if it made none."""
    generations: int
    added: int
    changed: int
    unchanged: int
    withdrawn: int
    refused: int
    """Not published: unreadable, invalid, or in the place of one that was met before."""
    repeated: int
    """Met a second time with the same content, or a copy of a file that was met before."""
    elsewhere: int
    """Left to other partitions."""
    warnings: int
    complete: bool
    """False when it was stopped: counted skills are done, the rest was not read."""
    pruned: bool
    """What was not met was withdrawn. False also where that was asked for, and a fault or the end
    of the run stood against it."""
    diagnostics: tuple[Diagnostic, ...]
    """The first errors; ``refused`` may be more."""
    left_out: int
    """Errors that are not among the diagnostics."""
    seconds: float
