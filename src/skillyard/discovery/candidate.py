"""What discovery finds: files that should be skills, as values."""

from __future__ import annotations

from skillyard.errors import Diagnostic
from skillyard.skill import Reference
from skillyard.value import NamedTuple

__all__ = ["Candidate", "Scan", "Stamp"]


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


class Scan(NamedTuple):
    """What was found, sorted by path, and what could not be looked at."""

    candidates: tuple[Candidate, ...]
    diagnostics: tuple[Diagnostic, ...]
    folders: int
