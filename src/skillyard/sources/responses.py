"""What remotes answered, kept on disk: by address, with bodies by content.

A small SQLite file says what was answered when; bodies lie beside it in files that are named by
their digest, which is checked when one is read. Any number of processes may use it at once, and
it can be deleted at any time.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import NamedTuple

from skillyard.digest import sha256

__all__ = ["CacheStats", "MemoryCache", "ResponseCache", "Stored"]

SCHEMA = 2
"""Grows when rows change their shape: an older file is dropped."""
MOST_BYTES = 256 * 1024 * 1024
"""What the bodies may take together; then the ones not asked for longest go."""
OLDEST_S = 30 * 24 * 3600.0
"""Answers that nobody confirmed for so long are no answers any more."""
KEPT_SHARE = 0.8
"""What is left of the most after a clearing, so that one is not due at once."""
WAIT_S = 5.0

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


class Stored(NamedTuple):
    """One answer as it was kept."""

    url: str
    status: int
    headers: Mapping[str, str]
    """Names in lower case; only those that are asked again."""
    body: bytes
    fetched: float
    """Seconds since the epoch when the body came."""
    checked: float
    """When the remote last said that it is still this."""


class CacheStats(NamedTuple):
    """What the cache holds."""

    path: str
    entries: int
    bytes: int
    """Of the distinct bodies."""
    oldest: float | None
    """Seconds since the epoch of the answer that was confirmed longest ago."""


class MemoryCache:
    """Answers by key for as long as the process lives, where nothing is kept on disk."""

    def __init__(self, most_bytes: int = MOST_BYTES // 4) -> None:
        self.most_bytes = most_bytes
        self._kept: dict[bytes, Stored] = {}
        self._bytes = 0

    def get(self, key: bytes, now: float) -> Stored | None:
        """Return what is kept."""
        return self._kept.get(key)

    def put(self, key: bytes, stored: Stored) -> None:
        """Keep an answer; the oldest ones go when they take too much."""
        before = self._kept.pop(key, None)
        self._bytes += len(stored.body) - (len(before.body) if before is not None else 0)
        self._kept[key] = stored
        while self._bytes > self.most_bytes and len(self._kept) > 1:
            oldest = next(iter(self._kept))
            self._bytes -= len(self._kept.pop(oldest).body)

    def confirm(self, key: bytes, now: float) -> None:
        """Note that the remote still says what is kept."""
        if key in self._kept:
            self._kept[key] = self._kept[key]._replace(checked=now)


class ResponseCache:
    """Answers by key. Reading and writing never raise for the sake of the cache."""

    def __init__(
        self, folder: str, *, most_bytes: int = MOST_BYTES, oldest_s: float = OLDEST_S
    ) -> None:
        self.folder = folder
        self.most_bytes = most_bytes
        self.oldest_s = oldest_s

    def get(self, key: bytes, now: float) -> Stored | None:
        """Return what is kept and sound; an entry whose body is damaged is forgotten."""
        with self._database() as database:
            if database is None:
                return None
            row = database.execute(
                "select url, status, headers, digest, size, fetched, checked, seal from responses"
                " where key = ?",
                (key,),
            ).fetchone()
            if row is None:
                return None
            stored = self._sound(row) if row[-1] == _seal(key, row[:-1]) else None
            if stored is None or now - stored.checked > self.oldest_s:
                database.execute("delete from responses where key = ?", (key,))
                return None
            return stored
        return None

    def _sound(self, row: tuple[object, ...]) -> Stored | None:
        url, status, headers, digest, size, fetched, checked, _ = row
        if not isinstance(digest, str) or not isinstance(status, int) or not isinstance(size, int):
            return None
        body = self._body(digest, size)
        if body is None or not isinstance(fetched, float) or not isinstance(checked, float):
            return None
        try:
            listed = json.loads(str(headers))
        except ValueError:
            return None
        if not isinstance(listed, dict):
            return None
        named = {str(name): str(value) for name, value in listed.items()}
        return Stored(str(url), status, named, body, fetched, checked)

    def _body(self, digest: str, size: int) -> bytes | None:
        """Return a body of that digest and size, from a regular file alone."""
        if len(digest) != 64 or not digest.isalnum():
            return None
        try:
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
            with open(os.open(self._place(digest), flags), "rb") as file:
                found = os.fstat(file.fileno())
                if not stat.S_ISREG(found.st_mode) or found.st_size != size:
                    return None
                body = file.read()
        except OSError:
            return None
        return body if sha256(body).hex() == digest else None

    def put(self, key: bytes, stored: Stored) -> None:
        """Keep an answer. A cache that cannot be written is left as it is."""
        digest = sha256(stored.body).hex()
        with suppress(OSError), self._database() as database:
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
        """Note that the remote still says what is kept."""
        with self._database() as database:
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
        """Return what is kept."""
        with self._database() as database:
            if database is None:
                return CacheStats(self.folder, 0, 0, None)
            entries, oldest = database.execute(
                "select count(*), min(checked) from responses"
            ).fetchone()
            return CacheStats(self.folder, entries, _bytes(database), oldest)
        return CacheStats(self.folder, 0, 0, None)

    def clear(self) -> int:
        """Forget everything; return how many answers there were."""
        count = self.stats().entries
        with self._database() as database:
            if database is not None:
                database.execute("delete from responses")
                self._sweep(database)
        return count

    def _forget(self, database: sqlite3.Connection, digest: str) -> None:
        """Remove a body that no answer names any more."""
        named = "select 1 from responses where digest = ? limit 1"
        if len(digest) != 64 or not digest.isalnum():
            return
        if database.execute(named, (digest,)).fetchone() is None:
            with suppress(OSError):
                os.unlink(self._place(digest))

    def _trim(self, database: sqlite3.Connection) -> None:
        """Drop the answers not confirmed for longest when the bodies take too much."""
        if _bytes(database) <= self.most_bytes:
            return
        listed = database.execute(
            "select key, size from responses order by checked, key"
        ).fetchall()
        for key, _ in listed:
            database.execute("delete from responses where key = ?", (key,))
            if _bytes(database) <= self.most_bytes * KEPT_SHARE:
                break
        self._sweep(database)

    def _sweep(self, database: sqlite3.Connection) -> None:
        """Remove the bodies that no answer names."""
        named = {row[0] for row in database.execute("select digest from responses")}
        with suppress(OSError):
            for name in sorted(os.listdir(os.path.join(self.folder, "content"))):
                for file in sorted(os.listdir(os.path.join(self.folder, "content", name))):
                    if file not in named:
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
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
        try:
            with open(handle, "wb") as file:
                file.write(body)
            os.replace(temporary, place)
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)
            raise

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection | None]:
        """Yield the database in one transaction; None where there can be none."""
        try:
            database = self._opened()
        except (sqlite3.Error, OSError, UnicodeDecodeError):
            yield None
            return
        with closing(database):
            try:
                yield database
                database.commit()
            except (sqlite3.Error, UnicodeDecodeError) as error:
                if not isinstance(error, sqlite3.OperationalError):
                    self._drop()

    def _opened(self) -> sqlite3.Connection:
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        path = os.path.join(self.folder, "responses.sqlite")
        for fresh in (False, True):
            database = sqlite3.connect(path, timeout=WAIT_S)
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
                os.unlink(os.path.join(self.folder, f"responses.sqlite{end}"))


def _seal(key: bytes, fields: Sequence[object]) -> bytes:
    """Return a digest of one row: what was flipped in the file is not believed."""
    return sha256(repr((key, *fields)).encode("utf-8", "surrogatepass"))


def _bytes(database: sqlite3.Connection) -> int:
    (total,) = database.execute(
        "select coalesce(sum(size), 0) from (select distinct digest, size from responses)"
    ).fetchone()
    return int(total)
