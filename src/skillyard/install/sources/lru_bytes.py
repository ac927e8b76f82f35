"""An in-memory LRU cache bounded by bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

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
