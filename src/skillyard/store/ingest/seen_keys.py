"""The keys and files that a run has met, on disk when there are many."""

from __future__ import annotations

import sqlite3
from typing import Literal

from skillyard.store.ingest.partition import key_digest
from skillyard.store.values import StoreKey

__all__ = ["Seen"]

_CACHE_KIB = 65_536
"""Held in memory; a million keys take about this much, more of them go to a temporary file."""
_KEPT = 16
"""Bytes of the digest that stand for a key: two keys of one digest would take 2**64 tries."""


class Seen:
    """A set of keys, each with the digest of what it was met with. For one thread."""

    def __init__(self) -> None:
        # An empty name is a file of SQLite's own, made when memory is full and gone at the end.
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
        """Add a key; return whether it is new, was met with the same content, or with another."""
        short_digest = key_digest(key)[:_KEPT]
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
        short_digest = key_digest(key)[:_KEPT]
        return (
            self._database.execute("SELECT 1 FROM seen WHERE key = ?", (short_digest,)).fetchone()
            is not None
        )

    def add_file(self, sha256: str) -> None:
        """Add the hash of a skill's file, 64 digits."""
        short_digest = bytes.fromhex(sha256)[:_KEPT]
        self._database.execute("INSERT OR IGNORE INTO file VALUES (?)", (short_digest,))

    def has_file(self, sha256: str) -> bool:
        """True when a file of that hash was added."""
        query = "SELECT 1 FROM file WHERE hash = ?"
        short_digest = bytes.fromhex(sha256)[:_KEPT]
        return self._database.execute(query, (short_digest,)).fetchone() is not None

    def close(self) -> None:
        """Forget all of it."""
        self._database.close()
