"""What decides from outside which files and which skills of a library load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from skillyard.base.errors import Diagnostic
    from skillyard.engine.discovery import Scan
    from skillyard.engine.skill import Skill


class Admission(Protocol):
    """Decides which skills of a library load, as a team's policy does.

    Its ``repr`` is complete and stable, and equal values decide alike: indexes are named by it.
    """

    @property
    def profile(self) -> str:
        """The name of the profile in force; empty without one."""

    def diagnostic(self, skill: Skill) -> Diagnostic | None:
        """Return why a skill does not load, or None where it is admitted."""

    def of_store(self) -> Admission | None:
        """Return what holds for skills of a catalog store; None: all are admitted."""


class FileFilter(Protocol):
    """Decides which files of a library are read.

    It runs before name collisions and term statistics, so rejected files do not affect others.
    """

    @property
    def key(self) -> str:
        """Distinguishes this index from the index of all files."""

    def filter_scan(self, files: Scan) -> Scan:
        """Return the scan without the rejected files; diagnostics give the reasons."""

    def resolve(self) -> FileFilter:
        """Return the same filter for resolved root paths."""
