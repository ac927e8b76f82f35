"""SHA-256 of a little data, without loading OpenSSL: that costs as much as a fifth of a start."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def _constructor() -> Any:
    """Return the interpreter's own implementation, or OpenSSL's where it has none."""
    try:
        return import_module("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256
    except (ImportError, AttributeError):
        return import_module("hashlib").sha256


new_sha256 = _constructor()
"""Returns the hash object of some bytes."""


def sha256(data: bytes) -> bytes:
    """Return the 32 bytes of the digest. For more than a megabyte ``hashlib`` is faster."""
    digest: bytes = new_sha256(data).digest()
    return digest
