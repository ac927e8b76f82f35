"""Answers that carry an entity tag, kept so that asking again costs a 304."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

__all__ = ["CachedResponse", "ETagCache"]

ANSWERS = 64
BYTES = 16 * 1024 * 1024
TAG_CHARS = 200
"""Tags are about forty characters; a longer one is not sent back with each request."""


class CachedResponse(NamedTuple):
    """One answer."""

    tag: str
    body: bytes


class ETagCache:
    """The answers used last, within a number and a size. Safe for many threads."""

    def __init__(self, answers: int = ANSWERS, bytes: int = BYTES) -> None:
        """``answers=0`` keeps nothing."""
        self._most_answers = answers
        self._most_bytes = bytes
        self._size = 0
        self._responses: OrderedDict[str, CachedResponse] = OrderedDict()
        self._lock = Lock()

    def get(self, target: str) -> CachedResponse | None:
        """Return what is kept of a target, None where nothing is."""
        with self._lock:
            cached = self._responses.get(target)
            if cached is not None:
                self._responses.move_to_end(target)
            return cached

    def put(self, target: str, tag: str, body: bytes) -> None:
        """Keep an answer in place of the one before; those not used for longest go."""
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
