"""The shared store: PostgreSQL 15 or later, for many machines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from skillyard.base.errors import StoreFailed, StoreRefused
from skillyard.store.backend import Backend, Options, Session, Work
from skillyard.store.backends.connections import Connections
from skillyard.store.backends.postgres_client import (
    address_of,
    connection_with_limit,
    driver,
    failure_of,
    limit_waits,
    parse_address,
    secrets_in,
)
from skillyard.store.backends.postgres_standby import commit_replicated, refuse_without_standby
from skillyard.store.backends.postgres_statements import (
    DIALECT,
    KEEP_CONTENTS,
    LOCK,
    READING,
    STAGE,
    STANDBYS,
    TABLES,
    WRITING,
)
from skillyard.store.pages import head_of
from skillyard.store.schema_steps import latest, pending
from skillyard.store.sql_store import CatalogStore, open_sql_store
from skillyard.store.statements import STAGED_AT_ONCE
from skillyard.store.values import Durability, Standby, StoreStatus

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

T = TypeVar("T")

OLDEST = 150_000
CHANNEL = "skillyard"
POLL_S = 0.5
"""Interval at which the last generation is queried, because a proxy can lose a notification."""
STANDBY_POLL_S = 0.02
"""The same interval on a standby, where PostgreSQL refuses LISTEN."""


def open_postgres(url: str, options: Options) -> CatalogStore:
    """Return the store in a database: ``postgresql://…``, with every option of libpq.

    Raises InvalidInput for an invalid address, and StoreFailed.
    """
    return open_sql_store(PostgresBackend(url, options), options)


class _Session:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def execute(self, sql: str, parameters: Mapping[str, Any], /) -> Any:
        return self.connection.execute(DIALECT.render(sql).encode(), parameters)


class PostgresBackend(Backend):
    """See :class:`~skillyard.store.backend.Backend`."""

    name = "postgresql"
    dialect = DIALECT

    def __init__(self, url: str, options: Options) -> None:
        self._parameters = parse_address(url)
        super().__init__(address_of(self._parameters), options)
        self._connections: Connections[Connection] = Connections(
            self._connect, self.address, options
        )
        self._listeners: Connections[Connection] = Connections(
            self._listener, self.address, options
        )
        self._is_notified = False
        """True where the last server that was listened to is no standby."""

    @contextmanager
    def reading(self, caller: str | None) -> Generator[Session, None, None]:
        """Return a read transaction.

        A caller's transaction has a role that can only read the views.
        """
        begin = b"BEGIN READ ONLY;" + READING.encode()
        if caller is not None:
            begin += b"SET LOCAL ROLE skillyard_reader"
        with self.lent(begin) as connection:
            if caller is not None:
                connection.execute(b"SELECT set_config('skillyard.caller', %s, true)", (caller,))
            yield _Session(connection)

    @contextmanager
    def writing(self, durability: Durability) -> Generator[Work, None, None]:
        """Return a write transaction. Raises NoStandby before anything is written."""
        replicated = durability == "synchronous"
        commit = b"remote_apply" if replicated else b"local"
        begin = b"BEGIN; SET LOCAL synchronous_commit = " + commit + b";"
        begin += WRITING.encode() + TABLES.encode()
        with self.lent(begin) as connection:
            if replicated:
                refuse_without_standby(connection, self.address)
            yield _PostgresWork(self, connection, replicated)

    def listen(self, after: int, timeout_s: float) -> int:
        """See the base class."""
        until = time.monotonic() + timeout_s
        connection, generation = self._borrow(
            self._listeners, lambda listener: self._next_generation(listener, after, until)
        )
        self._listeners.release(connection)
        return generation

    def _next_generation(self, connection: Connection, after: int, until: float) -> int:
        """Return the last generation when it is above ``after``, or when the time is up."""
        while True:
            generation, _ = head_of(_Session(connection))
            left = until - time.monotonic()
            if generation > after or left <= 0:
                return generation
            if self._is_notified:
                for _ in connection.notifies(timeout=min(left, POLL_S), stop_after=1):
                    pass
            else:
                threading.Event().wait(min(left, STANDBY_POLL_S))

    def migrate_once(self) -> int:
        """See the base class."""
        with self.lent(b"BEGIN; SET LOCAL synchronous_commit = local") as connection:
            connection.execute(LOCK.encode())
            version = _schema(connection)  # another process may have migrated meanwhile
            for step in pending(self.name, version, self.address)[:1]:
                connection.execute(_VERSIONS)
                connection.execute(step.sql.encode())
                connection.execute(
                    b"INSERT INTO skillyard.schema_versions (version, name) VALUES (%s, %s)",
                    (step.number, step.name),
                )
                version = step.number
            connection.execute(b"COMMIT")
            return version or latest(self.name)

    def schema(self) -> int | None:
        """See the base class."""
        with self.lent(b"BEGIN READ ONLY") as connection:
            return _schema(connection)

    def status(self) -> StoreStatus:
        """See the base class."""
        with self.lent(b"BEGIN READ ONLY") as connection:
            schema = _schema(connection) or 0
            row = connection.execute(b"SELECT pg_is_in_recovery()").fetchone()
            standby = row is None or bool(row[0])
            standbys = tuple(
                Standby(name or "", state or "unknown", lag)
                for name, state, lag in connection.execute(STANDBYS.encode()).fetchall()
            )
        return StoreStatus(
            store=self.address,
            backend=self.name,
            schema_version=schema,
            writable=not standby,
            notifies=not standby,
            standbys=standbys,
        )

    def close(self) -> None:
        """Close every connection."""
        self._connections.close()
        self._listeners.close()

    def _listener(self) -> Connection:
        """Return a connection that is notified of generations, unless its server is a standby."""
        psycopg = driver(self.address)
        connection = self._connect()
        try:
            connection.execute(b"LISTEN " + CHANNEL.encode())
            self._is_notified = True
        except psycopg.errors.ReadOnlySqlTransaction:
            self._is_notified = False
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> Connection:
        connection: Connection = connection_with_limit(driver(self.address)).connect(
            **self._parameters,
            autocommit=True,
            prepare_threshold=None,  # plans use the values, and proxies may share sessions
        )
        try:
            options = self.options
            limit_waits(connection, max(options.statement_timeout_s, options.standby_wait_s))
            if connection.info.server_version < OLDEST:
                version = connection.info.server_version // 10_000
                raise StoreRefused(self.address, f"is PostgreSQL {version}; 15 or later is needed")
            timeout_ms = max(1, round(1000 * options.statement_timeout_s))
            connection.execute(
                b"SELECT set_config('statement_timeout', %s, false),"
                b" set_config('client_min_messages', 'warning', false),"
                # JIT compilation takes 100 ms for statements that run in one.
                b" set_config('jit', 'off', false)",
                (str(timeout_ms),),
            )
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def lent(self, begin: bytes) -> Generator[Connection, None, None]:
        """Lend a connection inside a transaction, which is rolled back unless it is committed."""
        import psycopg

        connection, _ = self._borrow(self._connections, lambda lent: lent.execute(begin))
        try:
            yield connection
        except psycopg.Error as error:
            raise self.failure(error) from None
        finally:
            self._settle(connection)

    def _borrow(
        self, pool: Connections[Connection], first: Callable[[Connection], T]
    ) -> tuple[Connection, T]:
        """Return a connection of a pool, and what ``first`` returns for it.

        Idle connections may have lost their server. Nothing was done on them yet, so another one is
        taken.
        """
        psycopg = driver(self.address)
        left = self.options.connections
        while True:
            connection = None
            try:
                connection = pool.acquire()
                return connection, first(connection)
            except BaseException as error:
                gone = connection is not None and connection.closed
                if connection is not None:
                    pool.drop(connection)
                if not isinstance(error, psycopg.Error):
                    raise
                if not (gone and left):
                    raise self.failure(error) from None
                left -= 1

    def _settle(self, connection: Connection) -> None:
        """Return the connection to the pool outside any transaction, or drop it."""
        import psycopg

        try:
            if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.execute(b"ROLLBACK")
        except Exception:  # noqa: BLE001  whatever it is, nobody should use it again
            self._connections.drop(connection)
        else:
            self._connections.release(connection)

    def failure(self, error: psycopg.Error, committed: bool | None = False) -> StoreFailed:
        """Return the store's error for an error of the driver."""
        return failure_of(
            error,
            self.address,
            secrets=secrets_in(self._parameters),
            timeout_s=self.options.statement_timeout_s,
            committed=committed,
        )


class _PostgresWork(_Session):
    def __init__(self, backend: PostgresBackend, connection: Connection, replicated: bool) -> None:
        super().__init__(connection)
        self._backend = backend
        self._replicated = replicated

    def stage(self, rows: Iterable[Sequence[Any]]) -> None:
        waiting = iter(rows)
        while some := list(islice(waiting, STAGED_AT_ONCE)):
            with self.connection.cursor().copy(STAGE.encode()) as copy:
                for row in some:
                    copy.write_row([list(v) if isinstance(v, tuple) else v for v in row])

    def lock(self, tenant: str) -> None:
        """Store the staged contents, concurrently with other publishers, then wait for the lock."""
        self.connection.execute(KEEP_CONTENTS.encode(), {"tenant": tenant})
        self.connection.execute(LOCK.encode())

    def commit(self, generation: int) -> None:
        """Commit, notify listeners, and wait for a standby if requested."""
        import psycopg

        self.connection.execute(b"SELECT pg_notify(%s, %s)", (CHANNEL, str(generation)))
        try:
            if self._replicated:
                commit_replicated(
                    self.connection,
                    self._backend.address,
                    generation=generation,
                    wait_s=self._backend.options.standby_wait_s,
                )
            else:
                self.connection.execute(b"COMMIT")
        except psycopg.Error as error:
            # Without a response the outcome is unknown. An error response means that it was not
            # committed.
            unknown = self.connection.closed
            raise self._backend.failure(error, None if unknown else False) from None


_VERSIONS = b"""
CREATE SCHEMA IF NOT EXISTS skillyard;
CREATE TABLE IF NOT EXISTS skillyard.schema_versions (
    version integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
"""


def _schema(connection: Connection) -> int | None:
    """Return the schema version; None where there is no schema."""
    # Not to_regclass(): it may miss the commit of another session.
    row = connection.execute(
        b"SELECT count(*) FROM pg_class WHERE relname = 'schema_versions' AND relnamespace ="
        b" (SELECT oid FROM pg_namespace WHERE nspname = 'skillyard')"
    ).fetchone()
    if row is None or not row[0]:
        return None
    row = connection.execute(b"SELECT max(version) FROM skillyard.schema_versions").fetchone()
    return None if row is None or row[0] is None else int(row[0])
