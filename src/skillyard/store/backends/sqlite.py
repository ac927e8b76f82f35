"""The embedded store: one SQLite file on one machine. The default.

It uses write-ahead logging, so that readers and the writer do not block each other. Every commit
is on disk before it is acknowledged (``synchronous = FULL``).
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote

from skillyard.base.errors import (
    InvalidInput,
    NoStandby,
    StoreFailed,
    StoreRefused,
    StoreSchema,
    StoreUnavailable,
)
from skillyard.store.backend import Backend, Options, Session, Work
from skillyard.store.backends.connections import Connections
from skillyard.store.backends.sqlite_statements import (
    DIALECT,
    KEEP_CONTENTS,
    SET_UP,
    STAGE,
    VIEWS,
)
from skillyard.store.pages import head_of
from skillyard.store.schema_steps import Migration, latest, pending
from skillyard.store.sql_store import CatalogStore, open_sql_store
from skillyard.store.statements import STAGED_AT_ONCE
from skillyard.store.values import Durability, StoreStatus

PREFIX = "sqlite:///"
OLDEST = (3, 25, 0)
"""The first version of SQLite with window functions."""
POLL_S = 0.01
"""Interval between two checks for a new generation. A check takes about 10 microseconds."""
CHECKED_EVERY = 10_000
"""Instructions of SQLite's virtual machine between two checks of the time limit."""


def open_sqlite(url: str, options: Options) -> CatalogStore:
    """Return the store in the file of ``sqlite:///relative`` or ``sqlite:////absolute/path``.

    The file is only created when ``options.migrate`` is set. Raises StoreFailed, InvalidInput.
    """
    path = unquote(url.removeprefix(PREFIX))
    if not url.startswith(PREFIX) or not path or "\0" in path or "?" in url:
        raise InvalidInput("the address of a SQLite store is sqlite:///path/of/its/file")
    return open_sql_store(SqliteBackend(path, options), options)


class _Connection(sqlite3.Connection):
    """A connection with the caller whose view it reads, and the deadline of its statement."""

    caller: str | None = None
    deadline = 0.0
    timeout_s = 30.0

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        self.deadline = time.monotonic() + self.timeout_s
        return super().execute(DIALECT.render(sql), parameters)

    def late(self) -> bool:
        """True when the running statement exceeds its time limit; SQLite then ends it."""
        return time.monotonic() > self.deadline


class SqliteBackend(Backend):
    """See :class:`~skillyard.store.backend.Backend`."""

    name = "sqlite"
    dialect = DIALECT

    def __init__(self, path: str, options: Options) -> None:
        if sqlite3.sqlite_version_info < OLDEST:
            raise StoreRefused("sqlite", f"this Python has SQLite {sqlite3.sqlite_version}")
        super().__init__(f"{PREFIX}{path}", options)
        self.path = os.path.abspath(path)
        self._connections = Connections(self._connect, self.address, options)

    @contextmanager
    def reading(self, caller: str | None) -> Generator[Session, None, None]:
        """Return a read transaction. A caller's transaction can only read the caller's views."""
        with self._lent() as connection:
            connection.caller = caller
            connection.set_authorizer(None if caller is None else _only_views)
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                connection.set_authorizer(None)

    @contextmanager
    def writing(self, durability: Durability) -> Generator[Work, None, None]:
        """Return a write transaction. Raises NoStandby for ``synchronous``."""
        if durability != "local":
            raise NoStandby(
                self.address,
                "SQLite has no standby, so nothing was published",
                hint="publish with durability local, or to a store on PostgreSQL",
            )
        with self._lent() as connection:
            for table in ("staged", "moves"):
                connection.execute(f"DELETE FROM temp.{table}")
            yield _SqliteWork(connection)

    def listen(self, after: int, timeout_s: float) -> int:
        """See the base class. The file is checked a hundred times a second."""
        until = time.monotonic() + timeout_s
        pause = threading.Event()
        while True:
            with self.reading(None) as session:
                generation, _ = head_of(session)
            left = until - time.monotonic()
            if generation > after or left <= 0:
                return generation
            pause.wait(min(POLL_S, left))

    def migrate(self) -> tuple[int | None, int]:
        """See the base class. A missing file is made first."""
        self._make_file()
        return super().migrate()

    def migrate_once(self) -> int:
        """See the base class."""
        with self._lent() as connection:
            connection.execute("BEGIN IMMEDIATE")
            # Another process may have migrated meanwhile.
            for step in pending(self.name, _schema(connection), self.address)[:1]:
                _apply(connection, step)
            connection.execute("COMMIT")
            return _schema(connection) or latest(self.name)

    def schema(self) -> int | None:
        """See the base class."""
        if not os.path.isfile(self.path):
            return None
        with self._lent() as connection:
            return _schema(connection)

    def status(self) -> StoreStatus:
        """See the base class."""
        with self._lent() as connection:
            schema = _schema(connection) or 0
            writable = not connection.execute("PRAGMA query_only").fetchone()[0]
        writable = writable and os.access(self.path, os.W_OK)
        return StoreStatus(
            store=self.address,
            backend=self.name,
            schema_version=schema,
            writable=writable,
            notifies=False,
            standbys=(),
        )

    def close(self) -> None:
        """Close every connection."""
        self._connections.close()

    def _make_file(self) -> None:
        """Create a missing file, readable by this user alone, because it contains private skills.

        SQLite gives the files beside it (-wal, -shm, -journal) the same permissions. An existing
        file keeps its own, which may be open to a group on purpose.
        """
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise StoreRefused(self.address, f"cannot be made ({error.strerror})") from None

    def _connect(self) -> _Connection:
        timeout_s = self.options.statement_timeout_s
        connection = sqlite3.connect(
            f"file:{quote(self.path)}?mode=rw",
            uri=True,
            timeout=timeout_s,
            isolation_level=None,
            check_same_thread=False,  # lent to one thread at a time
            factory=_Connection,
        )
        try:
            connection.timeout_s = timeout_s
            connection.create_function("skillyard_caller", 0, lambda: connection.caller)
            connection.set_progress_handler(connection.late, CHECKED_EVERY)
            _write_ahead(connection, until=time.monotonic() + timeout_s)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.executescript(SET_UP)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _lent(self) -> Generator[_Connection, None, None]:
        """Lend a connection, which is always returned outside any transaction."""
        try:
            connection = self._connections.acquire()
        except sqlite3.Error as error:
            raise failure_of(error, self.address, self.options.statement_timeout_s) from None
        try:
            yield connection
        except sqlite3.Error as error:
            raise failure_of(error, self.address, self.options.statement_timeout_s) from None
        finally:
            try:
                if connection.in_transaction:
                    connection.rollback()
            except sqlite3.Error:  # the first error is the one to report
                self._connections.drop(connection)
            else:
                self._connections.release(connection)


class _SqliteWork:
    """A write transaction. It stages rows in temporary tables before it takes the write lock."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, parameters: Mapping[str, Any], /) -> sqlite3.Cursor:
        return self._connection.execute(sql, parameters)

    def stage(self, rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows into a temporary table, without blocking others."""
        waiting = iter(rows)
        while some := [_adapt(row) for row in islice(waiting, STAGED_AT_ONCE)]:
            self._connection.execute("BEGIN")
            self._connection.executemany(STAGE, some)
            self._connection.execute("COMMIT")

    def lock(self, tenant: str) -> None:
        """Take the write lock, and store the staged contents."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(KEEP_CONTENTS, {"tenant": tenant})

    def commit(self, generation: int) -> None:
        """Commit. A failed commit is rolled back completely."""
        self._connection.execute("COMMIT")


def _adapt(row: Sequence[Any]) -> tuple[Any, ...]:
    """Return a staged row with its tags as JSON, because SQLite has no lists."""
    return tuple(json.dumps(value) if isinstance(value, tuple) else value for value in row)


_HARMLESS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_TRANSACTION})


def _only_views(
    action: int, table: str | None, column: str | None, base: str | None, reader: str | None
) -> int:
    """Allow a caller's transaction to read the caller's views, and nothing else.

    SQLite calls it for every table that a statement reads, with the view through which it is read.
    A filter that is missing in a statement therefore raises an error and leaks nothing.
    """
    allowed = action in _HARMLESS or (
        action == sqlite3.SQLITE_READ and (table in VIEWS or reader in VIEWS)
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _write_ahead(connection: _Connection, until: float) -> None:
    """Switch a new file to write-ahead logging. Two that switch at once: one tries again.

    SQLite answers the loser at once and does not wait, since both hold a lock the other needs.
    """
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(POLL_S)
        else:
            return


def _schema(connection: _Connection) -> int | None:
    """Return the schema version; None where there is no schema. Raises StoreSchema upstream."""
    table = connection.execute(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_versions'"
    ).fetchone()
    if table is None:
        return None
    version = connection.execute("SELECT max(version) FROM schema_versions").fetchone()[0]
    return None if version is None else int(version)


def _apply(connection: _Connection, step: Migration) -> None:
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_versions (version INTEGER PRIMARY KEY, name TEXT NOT"
        " NULL, applied_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER)))"
    )
    for statement in _statements(step.sql):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO schema_versions (version, name) VALUES (?, ?)", (step.number, step.name)
    )


def _statements(script: str) -> list[str]:
    """Return the statements of a script. ``executescript`` would commit before the first one."""
    statements, begun = [], ""
    for line in script.splitlines(keepends=True):
        begun += line
        if sqlite3.complete_statement(begun):
            statements.append(begun)
            begun = ""
    return statements


_BY_CODE: dict[int, tuple[type[StoreFailed], str, str]] = {
    sqlite3.SQLITE_FULL: (StoreUnavailable, "the disk is full", "make room and do it again"),
    sqlite3.SQLITE_IOERR: (StoreUnavailable, "its file cannot be read or written", ""),
    sqlite3.SQLITE_CANTOPEN: (StoreUnavailable, "its file cannot be opened", ""),
    sqlite3.SQLITE_READONLY: (StoreRefused, "its file or folder is read only", ""),
    sqlite3.SQLITE_PERM: (StoreRefused, "access to its file is denied", ""),
    sqlite3.SQLITE_AUTH: (StoreRefused, "a caller's view reads only what was granted", ""),
    sqlite3.SQLITE_NOTADB: (StoreSchema, "its file is no SQLite database", ""),
    sqlite3.SQLITE_CORRUPT: (StoreSchema, "its file is damaged", "put a backup back"),
    sqlite3.SQLITE_TOOBIG: (StoreRefused, "a value is too large", ""),
    sqlite3.SQLITE_ERROR: (StoreSchema, "its tables are not those of a catalog", ""),
}
"""By SQLite's primary result code: error, message, hint."""


def failure_of(error: sqlite3.Error, address: str, timeout_s: float) -> StoreFailed:
    """Return the store's error for an error of SQLite. Nothing that failed was committed."""
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreUnavailable(address, f"another writer was busy for {timeout_s:g} seconds")
    if code == sqlite3.SQLITE_INTERRUPT:
        return StoreUnavailable(address, f"a statement took longer than {timeout_s:g} seconds")
    kind, what, hint = _BY_CODE.get(code, (StoreFailed, "failed", ""))
    return kind(address, f"{what} (SQLite: {error})", hint=hint)
