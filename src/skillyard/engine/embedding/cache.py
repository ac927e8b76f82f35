"""A cache of vectors in the cache folder: one SQLite file for each embedder, keyed by text.

It is safe for concurrent processes, and can be deleted at any time. A damaged file is recreated.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import closing, suppress

from skillyard.base.errors import EmbedderFailed, InvalidInput
from skillyard.base.io.files import sha256
from skillyard.engine.embedding.protocol import Embedder, embed_checked, unit_bytes

Progress = Callable[[int, int], object]
"""Called with (vectors, texts)."""

BATCH_TEXTS = 64
"""Texts embedded between two writes to the cache: what a process that is killed loses at most."""
MAX_QUERY_KEYS = 500
"""Keys per SQL query."""
LOCK_TIMEOUT_S = 10.0


class VectorCache:
    """The vectors of one embedder in one folder. Errors of the cache are never raised."""

    def __init__(self, folder: str, embedder: str) -> None:
        name = sha256(embedder.encode("utf-8", "surrogatepass")).hex()[:24]
        self.path = os.path.join(folder, f"{name}.sqlite")

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the cached vectors of the keys."""
        vectors: dict[bytes, bytes] = {}
        all_keys = list(keys)
        with suppress(sqlite3.Error, OSError):
            if not os.path.exists(self.path):
                return vectors
            with closing(self._open()) as database:
                for start in range(0, len(all_keys), MAX_QUERY_KEYS):
                    some = all_keys[start : start + MAX_QUERY_KEYS]
                    marks = ",".join("?" * len(some))
                    sql = f"select key, vector from vectors where key in ({marks})"
                    rows = database.execute(sql, some).fetchall()
                    vectors.update(
                        (key, vector)
                        for key, vector in rows
                        if isinstance(key, bytes) and isinstance(vector, bytes)
                    )
        return vectors

    def clear(self) -> None:
        """Delete all vectors."""
        with suppress(OSError):
            os.unlink(self.path)

    def put(self, vectors: Mapping[bytes, bytes]) -> None:
        """Store vectors. A cache that cannot be written stays unchanged."""
        try:
            self._write(vectors)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                return  # locked, read-only, full
            with suppress(OSError, sqlite3.Error):  # damaged: recreate it
                os.unlink(self.path)
                self._write(vectors)
        except OSError:
            return

    def _write(self, vectors: Mapping[bytes, bytes]) -> None:
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        with closing(self._open()) as database, database:
            database.execute(
                "create table if not exists vectors (key blob primary key, vector blob not null)"
                " without rowid"
            )
            database.executemany("insert or replace into vectors values (?, ?)", vectors.items())

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, timeout=LOCK_TIMEOUT_S)
        try:
            database.execute("pragma synchronous = normal")
        except sqlite3.Error:
            database.close()
            raise
        return database


def embed_cached(
    embedder: Embedder,
    texts: Sequence[str],
    cache: VectorCache | None = None,
    progress: Progress | None = None,
    unstored: Container[str] = (),
) -> list[bytes]:
    """Return the unit vector of each text as signed bytes. Missing vectors are computed and stored.

    The vector is empty when the embedder returns a zero vector. Those of texts that are in
    ``unstored`` after the embedder was asked are not stored. ``progress`` is called with the
    number of different texts that have a vector, and of all, before the first batch and after each;
    it may raise to stop, and the stored batches stay. Raises EmbedderFailed.
    """
    keys = [sha256(text.encode("utf-8", "surrogatepass")) for text in texts]
    text_by_key = dict(zip(keys, texts, strict=True))
    known = {} if cache is None else cache.get(text_by_key)
    try:
        _embed_missing(embedder, text_by_key, known, cache, progress, unstored)
    except _LengthMismatch:  # the model behind the name has changed
        if not known or cache is None:
            raise
        cache.clear()
        known = {}
        _embed_missing(embedder, text_by_key, known, cache, progress, unstored)
    return [known[key] for key in keys]


def refuse_missing(embedder: str) -> Progress:
    """Return a ``progress`` that raises EmbedderFailed where a vector would be computed."""

    def progress(done: int, total: int) -> None:
        if done < total:
            raise EmbedderFailed(embedder, f"{done:,} of {total:,} vectors are computed so far")

    return progress


class _LengthMismatch(EmbedderFailed):
    pass


def _embed_missing(
    embedder: Embedder,
    text_by_key: Mapping[bytes, str],
    known: dict[bytes, bytes],
    cache: VectorCache | None,
    progress: Progress | None,
    unstored: Container[str],
) -> None:
    """Compute the missing vectors and add them to ``known``. Raises EmbedderFailed."""
    missing = [pair for pair in text_by_key.items() if pair[0] not in known]
    sizes = {len(vector) for vector in known.values() if vector}
    if progress is not None:
        progress(len(known), len(text_by_key))
    for start in range(0, len(missing), BATCH_TEXTS):
        some = missing[start : start + BATCH_TEXTS]
        vectors = _embed_batch(embedder, [text for _, text in some])
        sizes.update(len(vector) for vector in vectors if vector)
        if len(sizes) > 1:
            lengths = ", ".join(map(str, sorted(sizes)))
            raise _LengthMismatch(embedder.id, f"vectors of {lengths} numbers, not of one length")
        new = dict(zip([key for key, _ in some], vectors, strict=True))
        known.update(new)
        if cache is not None:
            cache.put({key: new[key] for key in new if text_by_key[key] not in unstored})
        if progress is not None:
            progress(len(known), len(text_by_key))
    if len(sizes) > 1:
        raise _LengthMismatch(embedder.id, "vectors of several lengths were kept")


def _embed_batch(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    try:
        return [unit_bytes(vector) for vector in embed_checked(embedder, texts)]
    except InvalidInput as error:
        raise EmbedderFailed(embedder.id, str(error)) from None
