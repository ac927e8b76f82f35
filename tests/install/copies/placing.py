"""Writes one skill to one folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillyard.install.copies.placement import Placed, place_copies

__all__ = ["place"]


def place(files: Mapping[str, bytes], into: str, name: str, **more: Any) -> Placed:
    """Write a skill's files to the folder ``name`` in ``into``."""
    (placed,) = place_copies(files, [into], name, **more)
    return placed
