"""The SQLite file that lists cached responses, and its open connection.

Opening costs more than a hundred queries. The file may be deleted or replaced at any time, so
each use first checks that the connection still belongs to the file of that name.
"""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import NamedTuple

__all__ = ["Database", "State"]

SCHEMA = 2
"""Version of the tables. A file with another version is deleted and built again."""
WAIT_S = 5.0
SETTLED_NS = 100_000_000
"""A file that is older than this gets another modification time at the next write."""
COARSE_NS = 3_000_000_000
"""The same for file systems that store times in whole seconds."""

_TABLES = """
create table if not exists responses (
    key blob primary key,
    url text not null,
    status integer not null,
    headers text not null,
    digest text not null,
    size integer not null,
    fetched real not null,
    checked real not null,
    seal blob not null
) without rowid
"""


class State(NamedTuple):
    """The identity, size and modification time of a file at one moment."""

    device: int
    number: int
    size: int
    written_ns: int


class _Slot:
    """The open connection, and the file that it belongs to."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.connection: sqlite3.Connection | None = None
        self.file: tuple[int, int] | None = None
        """Device and inode of the file."""

    def close(self) -> None:
        """Close the connection. The caller holds the lock."""
        connection, self.connection, self.file = self.connection, None, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()


class Database:
    """The SQLite file of one cache folder, with one connection that threads use in turn.

    :meth:`close` may be called at any time; the next use opens the file again.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._path = os.path.join(folder, "responses.sqlite")
        self._slot = _Slot()
        _ALL.add(self._slot)
        weakref.finalize(self, _close, self._slot)

    def close(self) -> None:
        """Close the connection."""
        _close(self._slot)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection | None]:
        """Yield the connection for one transaction; None when the file cannot be opened.

        An error of SQLite ends the transaction and is not raised.
        """
        slot = self._slot
        with slot.lock:
            try:
                connection = self._current(slot)
            except (sqlite3.Error, OSError, UnicodeDecodeError):
                yield None
                return
            try:
                yield connection
                connection.commit()
            except BaseException as error:
                slot.close()  # and with it what was begun
                if not isinstance(error, sqlite3.Error | UnicodeDecodeError):
                    raise
                if not isinstance(error, sqlite3.OperationalError):
                    self._drop()

    def state(self) -> State | None:
        """Return a value that differs after every change to the file, by any process.

        None when a change could go unnoticed: the file is missing, or was written so recently that
        the next write may leave the same modification time.
        """
        try:
            info = os.stat(self._path)
        except OSError:
            return None
        coarse = info.st_mtime_ns % 1_000_000_000 == 0
        settled = time.time_ns() - info.st_mtime_ns > (COARSE_NS if coarse else SETTLED_NS)
        state = State(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)
        return state if settled else None

    def row(self, key: bytes) -> tuple[object, ...] | None:
        """Return the row of one response, its seal last; None without one."""
        with self.transaction() as connection:
            if connection is not None:
                row: tuple[object, ...] | None = connection.execute(
                    "select url, status, headers, digest, size, fetched, checked, seal"
                    " from responses where key = ?",
                    (key,),
                ).fetchone()
                return row
        return None

    def _current(self, slot: _Slot) -> sqlite3.Connection:
        """Return the open connection, or a new one when the path has another file than before."""
        if slot.connection is not None:
            if slot.file is not None and slot.file == _identity(self._path):
                return slot.connection
            slot.close()
        connection = self._open()
        slot.connection, slot.file = connection, _identity(self._path)
        return connection

    def _open(self) -> sqlite3.Connection:
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        for fresh in (False, True):
            # The lock sees to it that only one thread uses it at a time.
            database = sqlite3.connect(self._path, timeout=WAIT_S, check_same_thread=False)
            try:
                (version,) = database.execute("pragma user_version").fetchone()
                if version not in (0, SCHEMA):
                    raise sqlite3.DatabaseError("another version")
                database.execute("pragma synchronous = off")  # it can be made again
                database.execute(_TABLES)
                database.execute(f"pragma user_version = {SCHEMA}")
                database.commit()
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                database.close()
                if fresh or isinstance(error, sqlite3.OperationalError):
                    raise
                self._drop()
                continue
            return database
        raise sqlite3.DatabaseError("no database can be made")

    def _drop(self) -> None:
        for end in ("", "-journal", "-wal", "-shm"):
            with suppress(OSError):
                os.unlink(f"{self._path}{end}")


def _identity(path: str) -> tuple[int, int] | None:
    """Return the device and inode of a file; None without one."""
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _close(slot: _Slot) -> None:
    with slot.lock:
        slot.close()


_ALL: weakref.WeakSet[_Slot] = weakref.WeakSet()
_COPIED: list[sqlite3.Connection] = []
"""Connections that a fork copied from its parent. They must be neither used nor closed."""


def _after_fork() -> None:
    """Make the child process open its own connections, with new locks."""
    for slot in tuple(_ALL):
        if slot.connection is not None:
            _COPIED.append(slot.connection)
        slot.connection, slot.file, slot.lock = None, None, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
