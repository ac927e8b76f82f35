"""Partitions of all keys, so that several machines can share an ingest without coordination."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple, Self

from skillyard.base.errors import InvalidInput
from skillyard.store.values import StoreKey

MAX_PARTS = 10_000
_WRITTEN = re.compile(r"([1-9][0-9]{0,4})/([1-9][0-9]{0,4})")


class Partition(NamedTuple):
    """The part ``number`` of ``parts``. Every key belongs to exactly one of them."""

    number: int
    """From 1."""
    parts: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the partition written ``I/N``. Raises InvalidInput."""
        match = _WRITTEN.fullmatch(text)
        number, parts = (int(match[1]), int(match[2])) if match is not None else (0, 0)
        if not 1 <= number <= parts <= MAX_PARTS:
            raise InvalidInput(
                f"a partition is written I/N, from 1/N to N/N, N at most {MAX_PARTS:,}"
            )
        return cls(number, parts)

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"

    def holds(self, key: StoreKey) -> bool:
        """True when the key belongs to this partition: its digest modulo ``parts``."""
        return int.from_bytes(key_digest(key)[:8], "big") % self.parts == self.number - 1


def key_digest(key: StoreKey) -> bytes:
    """Return the SHA-256 of a key's parts, separated by NUL, which no part can contain."""
    return sha256("\0".join(key).encode("utf-8", "surrogatepass")).digest()
