"""SHA-256 of a little data."""

from __future__ import annotations

import hashlib

__all__ = ["sha256"]


def sha256(data: bytes) -> bytes:
    """Return the 32 bytes of the digest."""
    return hashlib.sha256(data).digest()
