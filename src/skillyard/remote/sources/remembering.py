"""Values in memory that were worked out once: bounded by their bytes, not by their number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

__all__ = ["Parsed", "Remembered"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Entry(NamedTuple, Generic[V]):
    value: V
    size: int


class Remembered(Generic[K, V]):
    """Values by key; the ones that were asked for longest ago go first. Safe for many threads.

    Everybody gets the same value, so it must be one that nobody can change.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    @property
    def bytes(self) -> int:
        """What the values take together, as those who put them said."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: K) -> V | None:
        """Return what is kept."""
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                return None
            self._kept.move_to_end(key)
            return entry.value

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value of so many bytes, its key included; not one larger than everything."""
        with self._lock:
            self._remove(key)
            if size > self.most_bytes:
                return
            self._kept[key] = _Entry(value, size)
            self._bytes += size
            while self._bytes > self.most_bytes:
                self._bytes -= self._kept.popitem(last=False)[1].size

    def drop(self, key: K) -> None:
        """Forget a value, if it is kept."""
        with self._lock:
            self._remove(key)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def _remove(self, key: K) -> None:
        before = self._kept.pop(key, None)
        if before is not None:
            self._bytes -= before.size


class _Of(NamedTuple):
    body: bytes
    value: object
    size: int


class Parsed(Remembered[Hashable, object]):
    """What was worked out of answers, kept by their content: other bytes find nothing."""

    def of(self, kind: Hashable, body: bytes) -> object | None:
        """Return what was worked out of a body."""
        found = self.get((kind, body))
        if not isinstance(found, _Of):
            return None
        if found.body is not body:  # the next comparison ends where it begins
            self.keep(kind, body, found.value, found.size)
        return found.value

    def keep(self, kind: Hashable, body: bytes, value: object, size: int) -> None:
        """Keep what was worked out of a body: a value that nobody can change, and its bytes."""
        self.put((kind, body), _Of(body, value, size), len(body) + size)
