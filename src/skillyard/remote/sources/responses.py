"""The cache of remote responses on disk: by address, with bodies by content.

A small SQLite file lists the responses; bodies lie beside it in files that are named by their
digest, which is checked when one is read. Any number of processes may use it at once, and it can be
deleted at any time.

hishel 2.0 supports httpx2 and bounds its storage, but it never serves a stale response when the
remote is down, does not verify stored bodies, and needs msgpack and anysqlite, so it is not used.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillyard.io.atomic_write import atomic_write
from skillyard.io.files import open_to_read
from skillyard.io.sha256 import sha256
from skillyard.remote.sources.database import Database, State
from skillyard.remote.sources.lru_bytes import LruBytes

if TYPE_CHECKING:
    import sqlite3

__all__ = ["CacheStats", "CachedResponse", "MemoryCache", "ResponseCache"]

MAX_BYTES = 256 * 1024 * 1024
"""Maximum total size of the bodies. Above it, the responses confirmed longest ago are removed."""
OLDEST_S = 30 * 24 * 3600.0
"""Seconds after which a response that was not confirmed again is ignored."""
SHARE_AFTER_EVICTION = 0.8
"""Share of the maximum size that remains after an eviction, so that the next one is not due at
once."""
MEMORY_BYTES = 32 * 1024 * 1024
"""Maximum size of the responses on disk that one process also holds in memory."""
ENTRY_BYTES = 1_024
"""Memory of a response beside its body and headers, in bytes."""


class CachedResponse(NamedTuple):
    """One cached response."""

    url: str
    status: int
    headers: Mapping[str, str]
    """By lower-case name; only the headers that are used later."""
    body: bytes
    fetched: float
    """When the body was received, in seconds since the epoch."""
    checked: float
    """When the remote last confirmed it, in seconds since the epoch."""


class CacheStats(NamedTuple):
    """The size of the cache."""

    path: str
    entries: int
    bytes: int
    """Total size of the distinct bodies."""
    oldest: float | None
    """When the response confirmed longest ago was confirmed, in seconds since the epoch."""


class MemoryCache:
    """An in-memory response cache, used when nothing is stored on disk."""

    oldest_s = inf
    """Responses do not expire within one process."""

    def __init__(self, max_bytes: int = MAX_BYTES // 4) -> None:
        self.max_bytes = max_bytes
        self._responses: dict[bytes, CachedResponse] = {}
        self._bytes = 0
        self._changes = 0

    def state(self) -> Hashable:
        """Return a value that differs after every change."""
        return self._changes

    def get(self, key: bytes, now: float) -> CachedResponse | None:
        """Return the cached response, or None."""
        return self._responses.get(key)

    def put(self, key: bytes, stored: CachedResponse) -> None:
        """Store a response and evict the oldest ones above the limit."""
        self._changes += 1
        stored = stored._replace(headers=MappingProxyType(dict(stored.headers)))
        before = self._responses.pop(key, None)
        self._bytes += len(stored.body) - (len(before.body) if before is not None else 0)
        self._responses[key] = stored
        while self._bytes > self.max_bytes and len(self._responses) > 1:
            oldest = next(iter(self._responses))
            self._bytes -= len(self._responses.pop(oldest).body)

    def confirm(self, key: bytes, now: float) -> None:
        """Record that the remote confirmed the cached response."""
        if key in self._responses:
            self._changes += 1
            self._responses[key] = self._responses[key]._replace(checked=now)

    def close(self) -> None:
        """Nothing is open."""


class _VerifiedRow(NamedTuple):
    """A response that was read from disk and verified, with the row that describes it."""

    row: tuple[object, ...]
    stored: CachedResponse
    state: State | None
    """The state of the database before the row was read. While it is the same, so is the row."""


class ResponseCache:
    """Responses by key on disk. Cache errors are never raised.

    Writes of other processes are visible at once: the list is read again when its file has changed.
    A body is read and verified again only when its row has changed. Thread-safe.
    """

    def __init__(
        self, folder: str, *, max_bytes: int = MAX_BYTES, oldest_s: float = OLDEST_S
    ) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self.oldest_s = oldest_s
        self._database = Database(folder)
        self._known: LruBytes[bytes, _VerifiedRow] = LruBytes(min(MEMORY_BYTES, max_bytes))

    def close(self) -> None:
        """Close the database; the next use opens it again."""
        self._database.close()

    def state(self) -> Hashable:
        """Return a value that differs after every change, by any process; None when unknown.

        See :meth:`Database.state`.
        """
        return self._database.state()

    def get(self, key: bytes, now: float) -> CachedResponse | None:
        """Return the cached response. An entry with a damaged body is removed."""
        known = self._known.get(key)
        state = self._database.state()
        if known is None or state is None or known.state != state:
            row = self._database.row(key)
            if row is None:
                self._known.drop(key)
                return None
            stored = self._read_again(key, row, known, state)
        else:
            row, stored = known.row, known.stored
        if stored is None or now - stored.checked > self.oldest_s:
            self._delete(key, row)
            return None
        return stored

    def _read_again(
        self, key: bytes, row: tuple[object, ...], known: _VerifiedRow | None, state: State | None
    ) -> CachedResponse | None:
        """Return the response of a row and remember it; None for a damaged one."""
        same = known is not None and known.row == row
        stored = known.stored if known is not None and same else self._read(key, row, known)
        if stored is not None:
            taken = len(stored.body) + sum(map(sys.getsizeof, row)) + ENTRY_BYTES
            self._known.put(key, _VerifiedRow(row, stored, state), taken)
        return stored

    def _read(
        self, key: bytes, row: tuple[object, ...], known: _VerifiedRow | None
    ) -> CachedResponse | None:
        """Return the verified response of a row with its body; None for a damaged one."""
        if row[-1] != _seal(key, row[:-1]):
            return None
        url, status, headers, digest, size, fetched, checked, _ = row
        if not isinstance(digest, str) or not isinstance(status, int) or not isinstance(size, int):
            return None
        if not isinstance(fetched, float) or not isinstance(checked, float):
            return None
        same = known is not None and known.row[3:5] == (digest, size)
        body = known.stored.body if known is not None and same else self._body(digest, size)
        if body is None:
            return None
        try:
            fields = json.loads(str(headers))
        except ValueError:
            return None
        if not isinstance(fields, dict):
            return None
        header_map = MappingProxyType({str(name): str(value) for name, value in fields.items()})
        return CachedResponse(str(url), status, header_map, body, fetched, checked)

    def _delete(self, key: bytes, row: tuple[object, ...]) -> None:
        """Delete a response, unless another process has replaced it meanwhile."""
        self._known.drop(key)
        with self._database.transaction() as database:
            if database is not None:
                database.execute(
                    "delete from responses where key = ? and seal is ?", (key, row[-1])
                )

    def _body(self, digest: str, size: int) -> bytes | None:
        """Return the body with that digest and size. Only regular files are read."""
        if len(digest) != 64 or not digest.isalnum():
            return None
        try:
            with open(open_to_read(self._place(digest)), "rb") as file:
                info = os.fstat(file.fileno())
                if not stat.S_ISREG(info.st_mode) or info.st_size != size:
                    return None
                body = file.read()
        except OSError:
            return None
        return body if sha256(body).hex() == digest else None

    def put(self, key: bytes, stored: CachedResponse) -> None:
        """Store a response. An unwritable cache stays as it is."""
        digest = sha256(stored.body).hex()
        with suppress(OSError), self._database.transaction() as database:
            if database is None:
                return
            self._write(digest, stored.body)
            before = database.execute(
                "select digest from responses where key = ?", (key,)
            ).fetchone()
            fields = (
                *(stored.url, stored.status, json.dumps(dict(stored.headers))),
                *(digest, len(stored.body), stored.fetched, stored.checked),
            )
            database.execute(
                "insert or replace into responses values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (key, *fields, _seal(key, fields)),
            )
            if before is not None and before[0] != digest:
                self._forget(database, str(before[0]))
            self._trim(database)

    def confirm(self, key: bytes, now: float) -> None:
        """Record that the remote confirmed the cached response."""
        with self._database.transaction() as database:
            if database is None:
                return
            row = database.execute(
                "select url, status, headers, digest, size, fetched from responses where key = ?",
                (key,),
            ).fetchone()
            if row is not None:
                database.execute(
                    "update responses set checked = ?, seal = ? where key = ?",
                    (now, _seal(key, (*row, now)), key),
                )

    def stats(self) -> CacheStats:
        """Return the size of the cache."""
        with self._database.transaction() as database:
            if database is None:
                return CacheStats(self.folder, 0, 0, None)
            entries, oldest = database.execute(
                "select count(*), min(checked) from responses"
            ).fetchone()
            return CacheStats(self.folder, entries, _bytes(database), oldest)
        return CacheStats(self.folder, 0, 0, None)

    def clear(self) -> int:
        """Remove every response and return their number."""
        count = self.stats().entries
        self._known.clear()
        with self._database.transaction() as database:
            if database is not None:
                database.execute("delete from responses")
                self._sweep(database)
        return count

    def _forget(self, database: sqlite3.Connection, digest: str) -> None:
        """Remove a body unless a response still refers to it."""
        query = "select 1 from responses where digest = ? limit 1"
        if len(digest) != 64 or not digest.isalnum():
            return
        if database.execute(query, (digest,)).fetchone() is None:
            with suppress(OSError):
                os.unlink(self._place(digest))

    def _trim(self, database: sqlite3.Connection) -> None:
        """Remove the responses confirmed longest ago while the bodies are too large."""
        if _bytes(database) <= self.max_bytes:
            return
        oldest_first = database.execute(
            "select key, size from responses order by checked, key"
        ).fetchall()
        for key, _ in oldest_first:
            database.execute("delete from responses where key = ?", (key,))
            if _bytes(database) <= self.max_bytes * SHARE_AFTER_EVICTION:
                break
        self._sweep(database)

    def _sweep(self, database: sqlite3.Connection) -> None:
        """Remove the bodies that no response refers to."""
        digests = {row[0] for row in database.execute("select digest from responses")}
        with suppress(OSError):
            for name in sorted(os.listdir(os.path.join(self.folder, "content"))):
                for file in sorted(os.listdir(os.path.join(self.folder, "content", name))):
                    if file not in digests:
                        with suppress(OSError):
                            os.unlink(os.path.join(self.folder, "content", name, file))

    def _place(self, digest: str) -> str:
        return os.path.join(self.folder, "content", digest[:2], digest)

    def _write(self, digest: str, body: bytes) -> None:
        place = self._place(digest)
        if self._body(digest, len(body)) is not None:
            return
        folder = os.path.dirname(place)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        atomic_write(place, body, mode=0o600, durable=False)


def _seal(key: bytes, fields: Sequence[object]) -> bytes:
    """Return a digest of one row, which detects damage to the file."""
    return sha256(repr((key, *fields)).encode("utf-8", "surrogatepass"))


def _bytes(database: sqlite3.Connection) -> int:
    (total,) = database.execute(
        "select coalesce(sum(size), 0) from (select distinct digest, size from responses)"
    ).fetchone()
    return int(total)
