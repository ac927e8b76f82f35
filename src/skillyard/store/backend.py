"""What a database does for a store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from skillyard.store.schema_steps import check_schema, latest, pending
from skillyard.store.statements import Dialect
from skillyard.store.values import Durability, StoreStatus


@dataclass(frozen=True, slots=True)
class Options:
    """The options of opening a store."""

    caller: str | None = None
    """The caller whose view is read. None reads everything, for the service that owns the store."""
    migrate: bool = False
    connections: int = 4
    """Maximum number of connections in this process."""
    statement_timeout_s: float = 30.0
    """Time limit of one statement, including waiting for another writer."""
    standby_wait_s: float = 10.0
    """Maximum wait of a synchronous publish for its standby."""


class Session(Protocol):
    """A transaction."""

    def execute(self, sql: str, parameters: Mapping[str, Any], /) -> Any:
        """Run one statement of ``statements``; return its cursor."""
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


class Backend(ABC):
    """One database behind the store. It raises StoreFailed only."""

    name: str
    """``sqlite`` or ``postgresql``, which is also the folder of its migrations."""
    dialect: Dialect

    def __init__(self, address: str, options: Options) -> None:
        self.address = address
        """The address without credentials."""
        self.options = options

    def migrate(self) -> tuple[int | None, int]:
        """Migrate the schema; return its version before (None: no schema) and after."""
        before = version = self.schema()
        while pending(self.name, version, self.address):
            version = self.migrate_once()
        return before, latest(self.name)

    def check(self) -> None:
        """Raise StoreSchema unless the schema has the version that this program needs."""
        check_schema(self.name, self.schema(), self.address)

    @abstractmethod
    def schema(self) -> int | None:
        """Return the version of the schema; None where there is none."""

    @abstractmethod
    def migrate_once(self) -> int:
        """Apply the next step in one transaction; return the version then.

        Two processes may migrate at once.
        """

    @abstractmethod
    def reading(self, caller: str | None) -> AbstractContextManager[Session]:
        """Return a read transaction as the caller, which ends on exit."""

    @abstractmethod
    def writing(self, durability: Durability) -> AbstractContextManager[Work]:
        """Return a write transaction, which is rolled back on exit unless committed."""

    @abstractmethod
    def listen(self, after: int, timeout_s: float) -> int:
        """See ``CatalogStore.listen``."""

    @abstractmethod
    def status(self) -> StoreStatus:
        """Return the state of the database, without the number of its skills."""

    @abstractmethod
    def close(self) -> None:
        """Close every connection."""
