"""What discovery finds: files that should be skills, as values."""

from __future__ import annotations

from typing import NamedTuple

from skillyard.errors import Diagnostic
from skillyard.skill import Reference

__all__ = ["SETTLED_NS", "Candidate", "Scan", "Stamp", "Visited"]

SETTLED_NS = 2_000_000_000
"""Timestamps of common file systems tick every 1 to 10 ms; 2 s covers the coarse ones."""


class Stamp(NamedTuple):
    """What a file looked like when it was last seen; equal stamps mean an unchanged file."""

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int
    device: int


class Candidate(NamedTuple):
    """One file that should be a skill."""

    path: str
    """The root as it was given, joined with the path below it, with ``/``."""
    parts: tuple[str, ...]
    """The path below the root."""
    origin: str
    folder: str | None
    """Name of the skill's folder; None for single files."""
    stamp: Stamp
    scope: str
    root: int
    """Number of the root, in the order given."""
    references: tuple[Reference, ...] = ()
    target: str | None = None
    """The real file, where ``path`` is a link that stays inside its folder."""


class Visited(NamedTuple):
    """A folder that was listed. Its time of change tells what was added and removed since."""

    path: str
    mtime_ns: int
    """0 where it had changed so lately that its time may not tell the next change."""
    inode: int
    """Tells a folder that was made anew from the one before it."""


class Scan(NamedTuple):
    """What was found, sorted by path, and what could not be looked at."""

    candidates: tuple[Candidate, ...]
    diagnostics: tuple[Diagnostic, ...]
    folders: int
    visited: tuple[Visited, ...] = ()
    """The folders that were listed, as they were before that."""
