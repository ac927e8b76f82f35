"""Cached responses with an ETag, so that an unchanged one costs a 304."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

__all__ = ["CachedResponse", "ETagCache"]

ANSWERS = 64
BYTES = 16 * 1024 * 1024
TAG_CHARS = 200
"""Maximum characters of a tag, which usually has about forty."""


class CachedResponse(NamedTuple):
    """The ETag and the body of one response."""

    tag: str
    body: bytes


class ETagCache:
    """The most recently used responses, bounded by number and bytes. Thread-safe."""

    def __init__(self, answers: int = ANSWERS, bytes: int = BYTES) -> None:
        """``answers=0`` disables the cache."""
        self._most_answers = answers
        self._most_bytes = bytes
        self._size = 0
        self._responses: OrderedDict[str, CachedResponse] = OrderedDict()
        self._lock = Lock()

    def get(self, target: str) -> CachedResponse | None:
        """Return the cached response of a target, or None."""
        with self._lock:
            cached = self._responses.get(target)
            if cached is not None:
                self._responses.move_to_end(target)
            return cached

    def put(self, target: str, tag: str, body: bytes) -> None:
        """Store a response in place of an earlier one, and evict the least recently used."""
        with self._lock:
            before = self._responses.pop(target, None)
            self._size -= len(before.body) if before is not None else 0
            if not _is_tag(tag) or len(body) > self._most_bytes:
                return
            self._responses[target] = CachedResponse(tag, body)
            self._size += len(body)
            while len(self._responses) > self._most_answers or self._size > self._most_bytes:
                self._size -= len(self._responses.popitem(last=False)[1].body)


def _is_tag(tag: str) -> bool:
    """True for a tag that can be sent back."""
    return 0 < len(tag) <= TAG_CHARS and tag.isascii() and tag.isprintable()
