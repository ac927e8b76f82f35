"""A bounded pool of database connections.

A connection is made in the thread that needs it, so that a caller gets the database's own error
at once when the database is down, and no background thread is needed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from skillyard.errors import StoreUnavailable

__all__ = ["Connections"]

C = TypeVar("C")

_INHERITED: list[object] = []
"""Connections of the process that this one was forked from: theirs to use and to close."""


class Connections(Generic[C]):
    """At most ``most`` connections at a time; the last one given back is lent first."""

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

    def take(self) -> tuple[C, bool]:
        """Return a connection and whether it was made just now; it must be given back or dropped.

        Raises StoreUnavailable when all are lent for too long, or the store is closed, and what
        making one raises.
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

    def give_back(self, connection: C) -> None:
        """Take back a connection that is in order, outside any transaction."""
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                self._free.release()
                return
        self.drop(connection)

    def drop(self, connection: C) -> None:
        """Close a lent connection that nobody should use again."""
        try:
            self._close(connection)
        finally:
            self._free.release()

    def drop_idle(self) -> None:
        """Close the connections that wait: the server they knew is gone."""
        with self._lock:
            idle = list(self._idle)
            self._idle.clear()
        for connection in idle:
            self._close(connection)

    def close(self) -> None:
        """Close what is idle now, and what is lent when it comes back."""
        with self._lock:
            self._closed = True
        if self._process == os.getpid():
            self.drop_idle()

    def _renew(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(self._most)
        self._idle: list[C] = []
