"""The set of the keys and files of a run, on disk when there are many."""

from __future__ import annotations

import sqlite3
from typing import Literal

from skillyard.store.ingest.partition import key_digest
from skillyard.store.values import StoreKey

_CACHE_KIB = 65_536
"""Memory limit, enough for a million keys. Larger sets go to a temporary file."""
_DIGEST_BYTES = 16
"""Bytes of a digest that identify a key: a collision needs about 2**64 attempts."""


class SeenKeys:
    """A set of keys, each with the digest of its content. For one thread."""

    def __init__(self) -> None:
        # An empty name makes a private file of SQLite, which is used when memory is full and
        # deleted at the end.
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(
            "CREATE TABLE seen (key BLOB PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID"
        )
        self._database.execute("CREATE TABLE file (hash BLOB PRIMARY KEY) WITHOUT ROWID")
        self._database.execute("BEGIN")

    def add(self, key: StoreKey, content: str) -> Literal["new", "same", "other"]:
        """Add a key; return whether it is new, known with the same content, or with another one."""
        short_digest = key_digest(key)[:_DIGEST_BYTES]
        added = self._database.execute(
            "INSERT OR IGNORE INTO seen VALUES (?, ?)", (short_digest, content)
        )
        if added.rowcount:
            return "new"
        query = "SELECT content FROM seen WHERE key = ?"
        return (
            "same"
            if self._database.execute(query, (short_digest,)).fetchone()[0] == content
            else "other"
        )

    def __contains__(self, key: StoreKey) -> bool:
        short_digest = key_digest(key)[:_DIGEST_BYTES]
        return (
            self._database.execute("SELECT 1 FROM seen WHERE key = ?", (short_digest,)).fetchone()
            is not None
        )

    def add_file(self, sha256: str) -> None:
        """Add the hash of a skill's file, 64 digits."""
        short_digest = bytes.fromhex(sha256)[:_DIGEST_BYTES]
        self._database.execute("INSERT OR IGNORE INTO file VALUES (?)", (short_digest,))

    def has_file(self, sha256: str) -> bool:
        """True when a file with that hash was added."""
        query = "SELECT 1 FROM file WHERE hash = ?"
        short_digest = bytes.fromhex(sha256)[:_DIGEST_BYTES]
        return self._database.execute(query, (short_digest,)).fetchone() is not None

    def close(self) -> None:
        """Delete all entries."""
        self._database.close()
