"""The cache of remote responses: one file for each, named by the digest of its key.

A file begins with the digest of the rest, which is checked when it is read. Its modification time
is when the remote last confirmed it. Any number of processes may use the folder at once, and it can
be deleted at any time.

hishel 2.0 supports httpx2 and bounds its storage, but it never serves a stale response when the
remote is down, does not verify stored bodies, and needs msgpack and anysqlite, so it is not used.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from skillyard.base.io.atomic_write import atomic_write
from skillyard.base.io.files import read_regular
from skillyard.base.io.sha256 import sha256
from skillyard.base.shapes.service import CacheStats

MAX_BYTES = 256 * 1024 * 1024
"""Maximum total size of the files. Above it, the responses confirmed longest ago are removed."""
OLDEST_S = 30 * 24 * 3600.0
"""Seconds after which a response that was not confirmed again is ignored."""
SHARE_AFTER_EVICTION = 0.8
"""Share of the maximum size that remains after an eviction, so that the next one is not due at
once."""
SHARE_BETWEEN_LOOKS = 0.05
"""Share of the maximum size that a process writes before it looks again how large the cache is."""
ENTRY_BYTES = 1_024
"""Memory of a response beside its body, in bytes."""


class CachedResponse(NamedTuple):
    """One cached response."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name; only the headers that are used later."""
    body: bytes
    checked: float
    """When the remote last confirmed it, in seconds since the epoch."""


@runtime_checkable
class Cache(Protocol):
    """Responses by key."""

    def get(self, key: str, now: float) -> CachedResponse | None:
        """Return the cached response, or None."""

    def put(self, key: str, response: CachedResponse) -> None:
        """Store a response."""

    def confirm(self, key: str, now: float) -> None:
        """Record that the remote confirmed the cached response."""


class MemoryCache:
    """An in-memory response cache, used when nothing is stored on disk."""

    def __init__(self, max_bytes: int = MAX_BYTES // 4) -> None:
        self._responses: LruBytes[str, CachedResponse] = LruBytes(max_bytes)

    def get(self, key: str, now: float) -> CachedResponse | None:
        """Return the cached response, or None."""
        return self._responses.get(key)

    def put(self, key: str, response: CachedResponse) -> None:
        """Store a response."""
        self._responses.put(key, response, len(response.body) + ENTRY_BYTES)

    def confirm(self, key: str, now: float) -> None:
        """Record that the remote confirmed the cached response."""
        response = self.get(key, now)
        if response is not None:
            self.put(key, response._replace(checked=now))


class ResponseCache:
    """Responses by key on disk. Cache errors are never raised."""

    def __init__(
        self, folder: str, *, max_bytes: int = MAX_BYTES, oldest_s: float = OLDEST_S
    ) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self.oldest_s = oldest_s
        self._unseen = max_bytes
        """Bytes that were written since the size of the cache was looked at."""

    def get(self, key: str, now: float) -> CachedResponse | None:
        """Return the cached response; None for a damaged one, too."""
        try:
            data, info = read_regular(self._place(key), self.max_bytes)
        except OSError:
            return None
        digest, _, rest = data.partition(b"\n")
        if now - info.st_mtime > self.oldest_s or _digest(key, rest) != digest:
            return None
        head, _, body = rest.partition(b"\n")
        status, headers = json.loads(head)
        return CachedResponse(status, headers, body, info.st_mtime)

    def put(self, key: str, response: CachedResponse) -> None:
        """Store a response. An unwritable cache stays as it is."""
        head = json.dumps([response.status, dict(response.headers)]).encode()
        rest = head + b"\n" + response.body
        place = self._place(key)
        with suppress(OSError):
            os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
            data = _digest(key, rest) + b"\n" + rest
            atomic_write(place, data, mode=0o600, durable=False)
            self.confirm(key, response.checked)
            self._unseen += len(data)
            if self._unseen > self.max_bytes * SHARE_BETWEEN_LOOKS:
                self._unseen = 0
                self._trim(response.checked)

    def confirm(self, key: str, now: float) -> None:
        """Record that the remote confirmed the cached response."""
        with suppress(OSError):
            os.utime(self._place(key), (now, now))

    def stats(self) -> CacheStats:
        """Return the size of the cache."""
        files = self._files()
        oldest = min((checked for checked, _, _ in files), default=None)
        return CacheStats(
            entries=len(files), bytes=sum(size for _, size, _ in files), oldest=oldest
        )

    def _trim(self, now: float) -> None:
        """Remove what is too old, and while the files are too large what is oldest."""
        files = sorted(self._files())
        total = sum(size for _, size, _ in files)
        most = self.max_bytes * SHARE_AFTER_EVICTION if total > self.max_bytes else total
        for checked, size, path in files:
            if total <= most and now - checked <= self.oldest_s:
                break
            total -= size
            with suppress(OSError):
                os.unlink(path)

    def _files(self) -> list[tuple[float, int, str]]:
        """Return time, size and path of each file."""
        files = []
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                with suppress(OSError):
                    info = os.lstat(path)
                    files.append((info.st_mtime, info.st_size, path))
        return files

    def _place(self, key: str) -> str:
        return os.path.join(self.folder, key[:2], key)


def _digest(key: str, rest: bytes) -> bytes:
    return sha256(key.encode() + rest).hex().encode()


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Entry(NamedTuple, Generic[V]):
    value: V
    size: int


class LruBytes(Generic[K, V]):
    """An LRU cache of values by key. Thread-safe. Values are shared, so they must be immutable."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._entries: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    @property
    def bytes(self) -> int:
        """Total size of the values, as given to :meth:`put`."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry.value

    def put(self, key: K, value: V, size: int) -> None:
        """Store a value. ``size`` includes its key; a value larger than the cache is not stored."""
        with self._lock:
            self._remove(key)
            if size > self.max_bytes:
                return
            self._entries[key] = _Entry(value, size)
            self._bytes += size
            while self._bytes > self.max_bytes:
                self._bytes -= self._entries.popitem(last=False)[1].size

    def _remove(self, key: K) -> None:
        before = self._entries.pop(key, None)
        if before is not None:
            self._bytes -= before.size
