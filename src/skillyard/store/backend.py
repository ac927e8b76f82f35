"""The protocol of a database backend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from skillyard.store.values import Durability, Status


@dataclass(frozen=True, slots=True)
class Options:
    """The options of opening a store."""

    caller: str | None = None
    """The caller whose view is read. None reads everything, for the service that owns the store."""
    migrate: bool = False
    """Create or migrate the schema first."""
    connections: int = 4
    """Maximum number of connections in this process."""
    statement_timeout_s: float = 30.0
    """Time limit of one statement, including waiting for another writer."""
    standby_wait_s: float = 10.0
    """Maximum wait of a synchronous publish for its standby."""


@dataclass(frozen=True, slots=True)
class Statements:
    """The SQL of one database, with named parameters in its own style.

    ``{entries}`` is replaced by the relation to read: all entries, or what a caller sees. The last
    column of a page is the weight of its row in bytes. A page may end once the preceding rows weigh
    ``most_bytes``, and not earlier.
    """

    head: str
    stamp_of: str
    view_generation: str
    page: str
    page_of_view: str
    by_id: str
    by_key: str
    history: str
    count: str
    standing: str
    places: str
    generations: str
    doubled: str
    decide_publish: str
    decide_withdraw: str
    decide_rollback: str
    unexpected: str
    kinds: str
    add_generation: str
    supersede: str
    add_versions: str
    granted: str
    add_grant: str
    drop_grant: str
    drop_grants: str
    view_changed: str


class Session(Protocol):
    """A transaction."""

    def execute(self, sql: str, parameters: Mapping[str, Any], /) -> Any:
        """Run one statement; return its cursor."""
        ...


class Work(Session, Protocol):
    """A write transaction."""

    def stage(self, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows (see ``StoredRow``) to a staging table of this transaction, in batches."""
        ...

    def lock(self, tenant: str) -> None:
        """Store the staged contents, then wait for the lock that serialises generations."""
        ...

    def commit(self, generation: int) -> None:
        """Commit with the requested durability. Raises StoreFailed, with ``committed`` set."""
        ...


class Backend(Protocol):
    """One database behind the store. It raises StoreFailed only."""

    @property
    def name(self) -> str:
        """``sqlite`` or ``postgresql``, which is also the folder of its migrations."""
        ...

    @property
    def address(self) -> str:
        """The address without credentials."""
        ...

    @property
    def sql(self) -> Statements:
        """The SQL statements of this database."""
        ...

    def relation(self, caller: str | None) -> str:
        """Return the replacement of ``{entries}``."""
        ...

    def reading(self, caller: str | None) -> AbstractContextManager[Session]:
        """Return a read transaction as the caller, which ends on exit."""
        ...

    def writing(self, durability: Durability) -> AbstractContextManager[Work]:
        """Return a write transaction, which is rolled back on exit unless committed."""
        ...

    def listen(self, after: int, timeout_s: float) -> int:
        """See ``CatalogStore.listen``."""
        ...

    def migrate(self) -> tuple[int | None, int]:
        """Migrate the schema; return its version before (None: no schema) and after."""
        ...

    def check(self) -> None:
        """Raise StoreSchema unless the schema has the version that this program needs."""
        ...

    def status(self) -> Status:
        """Return the state of the database, without the number of its skills."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...
