"""SHA-256 of a little data, without loading OpenSSL: that costs as much as a fifth of a start."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["sha256"]


def _constructor() -> Any:
    """Return the interpreter's own implementation, or OpenSSL's where it has none."""
    for module in ("_sha2", "_sha256"):  # its name from CPython 3.12, and before
        try:
            return import_module(module).sha256
        except (ImportError, AttributeError):
            continue
    return import_module("hashlib").sha256


_new = _constructor()


def sha256(data: bytes) -> bytes:
    """Return the 32 bytes of the digest. For more than a megabyte ``hashlib`` is faster."""
    digest: bytes = _new(data).digest()
    return digest
