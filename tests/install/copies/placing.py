"""Writes one skill to one folder, beside which the lock file lies."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from skillyard.install.copies.lockfile import ProjectLock
from skillyard.install.copies.placement import Placed, place_copies

__all__ = ["place"]


def place(files: Mapping[str, bytes], into: str, name: str, **more: Any) -> Placed:
    """Write a skill's files to the folder ``name`` in ``into``."""
    lock = ProjectLock(os.path.join(os.path.dirname(into), "skills-lock.json"))
    (placed,) = place_copies(files, [into], name, lock, **more)
    return placed
