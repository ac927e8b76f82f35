"""A bounded pool of database connections.

Connections are opened in the thread that needs them. A caller thus gets the database's own error at
once when the database is down, and no background thread is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from skillyard.base.errors import StoreUnavailable
from skillyard.store.backend import Options


class _Closeable(Protocol):
    def close(self) -> object: ...


C = TypeVar("C", bound=_Closeable)


class Connections(Generic[C]):
    """A pool of as many connections as the options allow. The one returned last is lent first."""

    def __init__(self, make: Callable[[], C], store: str, options: Options) -> None:
        self._make = make
        self._store = store
        self._options = options
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(options.connections)
        self._idle: list[C] = []
        self._closed = False

    def acquire(self) -> C:
        """Return a connection, which must be given back or dropped.

        Raises StoreUnavailable when no connection becomes free in time or the pool is closed, and
        the error of opening a connection.
        """
        most, wait_s = self._options.connections, self._options.statement_timeout_s
        if not self._free.acquire(timeout=wait_s):
            raise StoreUnavailable(
                self._store,
                f"all {most} connections were in use for {wait_s:g} seconds",
                hint="allow more connections, or ask less at once",
            )
        try:
            with self._lock:
                if self._closed:
                    raise StoreUnavailable(self._store, "was closed here")
                if self._idle:
                    return self._idle.pop()
            return self._make()
        except BaseException:
            self._free.release()
            raise

    def release(self, connection: C) -> None:
        """Return a healthy connection, outside any transaction, to the pool."""
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                self._free.release()
                return
        self.drop(connection)

    def drop(self, connection: C) -> None:
        """Close a lent connection that must not be used again."""
        try:
            connection.close()
        finally:
            self._free.release()

    def close(self) -> None:
        """Close idle connections now, and lent ones when they are given back."""
        with self._lock:
            self._closed = True
            idle = tuple(self._idle)
            self._idle.clear()
        for connection in idle:
            connection.close()
