"""A bounded pool of database connections.

Connections are opened in the thread that needs them. A caller thus gets the database's own error at
once when the database is down, and no background thread is needed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from skillyard.base.errors import StoreUnavailable

C = TypeVar("C")

_INHERITED: list[object] = []
"""Connections that were opened before a fork. They belong to the parent process."""


class Connections(Generic[C]):
    """A pool of at most ``most`` connections. The connection returned last is lent first."""

    def __init__(
        self,
        make: Callable[[], C],
        close: Callable[[C], None],
        *,
        store: str,
        most: int,
        wait_s: float,
    ) -> None:
        self._make = make
        self._close = close
        self._store = store
        self._most = most
        self._wait_s = wait_s
        self._renew()
        self._closed = False

    def acquire(self) -> tuple[C, bool]:
        """Return a connection, and whether it is new. It must be given back or dropped.

        Raises StoreUnavailable when no connection becomes free in time or the pool is closed, and
        the error of opening a connection.
        """
        if self._process != os.getpid():
            _INHERITED.extend(self._idle)
            self._renew()
        if not self._free.acquire(timeout=self._wait_s):
            raise StoreUnavailable(
                self._store,
                f"all {self._most} connections were in use for {self._wait_s:g} seconds",
                hint="allow more connections, or ask less at once",
            )
        try:
            with self._lock:
                if self._closed:
                    raise StoreUnavailable(self._store, "was closed here")
                if self._idle:
                    return self._idle.pop(), False
            return self._make(), True
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
            self._close(connection)
        finally:
            self._free.release()

    def drop_idle(self) -> None:
        """Close the idle connections, because their server is gone."""
        with self._lock:
            idle = list(self._idle)
            self._idle.clear()
        for connection in idle:
            self._close(connection)

    def close(self) -> None:
        """Close idle connections now, and lent ones when they are given back."""
        with self._lock:
            self._closed = True
        if self._process == os.getpid():
            self.drop_idle()

    def _renew(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(self._most)
        self._idle: list[C] = []
