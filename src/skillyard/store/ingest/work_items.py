"""What goes through an ingest, as values: items to be read, rows made of them, what came of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from skillyard.discovery import Candidate
from skillyard.errors import Diagnostic
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.store.ingest.partition import Partition
from skillyard.store.rows import StoredRow
from skillyard.store.values import Durability

__all__ = ["Ingested", "Item", "Made", "Making", "Options", "Step"]

BATCH = 2_000
"""Skills of one generation: about a second of work, and what a killed run loses at most, twice."""


class Options(NamedTuple):
    """What is published where, and how."""

    tenant: str
    publisher: str
    namespace: str = ""
    source: str = ""
    """The source of skills that name none; what pruning looks at."""
    durability: Durability = "local"
    jobs: int = 1
    """Worker processes; 1: this process does the work itself. More of them import the program's
    main module anew, so that it must guard what it does (``if __name__ == "__main__":``)."""
    batch: int = BATCH
    partition: Partition | None = None
    """Only this part of the keys; None: all of them."""
    prune: bool = False
    """Withdraw what stands under namespace and source and was not met."""
    dry_run: bool = False
    limits: Limits = DEFAULT_LIMITS


class Item(NamedTuple):
    """One skill to be, before it is read."""

    shown: str
    """The file that findings name."""
    line: int | None
    """1-based, in a file of JSON lines."""
    source: str
    place: str | None
    """Under which it is kept; None where only its text tells."""
    size: int
    """Bytes of the file or of the line."""
    what: Candidate | dict[str, Any]
    """The file of a folder, or the object of a line."""


class Making(NamedTuple):
    """What a worker needs to know."""

    tenant: str
    namespace: str
    limits: Limits
    store: str
    """Its address without credentials, for messages."""


class Made(NamedTuple):
    """What a worker made of one item: a row, or nothing because it stands already or is bad."""

    item: Item
    place: str
    digest: str
    """Of the content, as the store has it; empty for what was refused."""
    row: StoredRow | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    file: str = ""
    """SHA-256 of a file below a root; empty for a JSON line, which stands for itself."""


class Step(NamedTuple):
    """How far an ingest is."""

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
    """What an ingest did, in skills. A dry run tells what it would have done."""

    generation: int
    """The last one that it made, or the store's last one where it made none."""
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
    """False when it was stopped: what is counted stands, the rest was not looked at."""
    pruned: bool
    """What was not met was withdrawn. False also where that was asked for, and a fault or the end
    of the run stood against it."""
    diagnostics: tuple[Diagnostic, ...]
    """The first errors; ``refused`` may be more."""
    left_out: int
    """Errors that are not among the diagnostics."""
    seconds: float
