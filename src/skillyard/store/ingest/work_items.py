"""The values of an ingest: options, items, built rows, progress and the result."""

from __future__ import annotations

from typing import Any, NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.base.limits import DEFAULT_LIMITS, Limits
from skillyard.engine.discovery import Candidate
from skillyard.store.ingest.partition import Partition
from skillyard.store.rows import StoredRow
from skillyard.store.values import Durability

BATCH = 2_000
"""Skills of one generation: about a second of work. A killed run loses at most two batches."""


class Options(NamedTuple):
    """The options of an ingest."""

    tenant: str
    publisher: str
    namespace: str = ""
    source: str = ""
    """The default source of skills, and the source that pruning considers."""
    durability: Durability = "local"
    jobs: int = 1
    """Number of worker processes; 1 uses this process. Workers import the main module of the
    program again, so it must guard its code with ``if __name__ == "__main__":``."""
    batch: int = BATCH
    partition: Partition | None = None
    """Only this part of the keys; None: all keys."""
    prune: bool = False
    """Withdraw the skills of this namespace and source that the run did not find."""
    dry_run: bool = False
    limits: Limits = DEFAULT_LIMITS


class Item(NamedTuple):
    """One skill file or line, before it is parsed."""

    display_path: str
    """The name of the file in diagnostics."""
    line: int | None
    """1-based line number in a file of JSON lines."""
    source: str
    place: str | None
    """Its place in the store; None when it depends on the parsed text."""
    size: int
    """Size in bytes of the file or of the line."""
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
    """Number of skills that are done, including those of other partitions."""
    total: int | None
    """Total number, if known; for JSON lines estimated from the bytes read."""
    published: int
    unchanged: int
    refused: int
    generation: int
    """The last acknowledged generation; 0 before the first."""


class IngestResult(NamedTuple):
    """The result of an ingest, in skills. A dry run reports what it would have done."""

    generation: int
    """The last generation of this run, or of the store if the run made none."""
    generations: int
    added: int
    changed: int
    unchanged: int
    withdrawn: int
    refused: int
    """Not published: unreadable, invalid, or at the place of an earlier one."""
    repeated: int
    """Repeated with the same content, or a copy of an earlier file."""
    elsewhere: int
    """Skills of other partitions."""
    warnings: int
    complete: bool
    """False when it was stopped: counted skills are done, the rest was not read."""
    pruned: bool
    """True when missing skills were withdrawn. False when that was not requested, and when errors
    or a stop prevented it."""
    diagnostics: tuple[Diagnostic, ...]
    """The first errors; ``refused`` may be larger."""
    left_out: int
    """Number of errors that are not among the diagnostics."""
    seconds: float
