"""The layout of a tree of skills, and what a walk of it finds: candidate files and stamps."""

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.base.io.files import PlaceStamp
from skillyard.engine.skill import Reference

SKILL_FILE = "SKILL.md"
RUNTIME_FOLDER = ".skills"

HEAVY_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "node_modules", "site-packages", "__pycache__", ".venv", "venv"}
    | {".next", ".tox", ".nox", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
    | {"skills-kept"}  # backups of `remove` and `update`
)
"""Never entered. Names are compared without case."""
BUILD_FOLDERS = frozenset(["target", "dist", "build", "coverage"])
"""Entered only when they contain a ``SKILL.md``, because skills have such names too."""
OWN_FOLDERS = frozenset(["references", "scripts", "assets", "resources", "docs", "examples"])
"""Folders that belong to a skill when they lie in its folder. They are not searched for skills."""
REFERENCE_FOLDERS = ("references", "resources", "docs", "examples", "rules")
"""Folders in which Skyll finds reference documents, besides the folder of ``SKILL.md`` itself."""
MAX_PAGES = 32
"""Reference documents of a skill whose beginnings count for it."""


class Root(NamedTuple):
    """One folder to search, with the scope of its skills: project, user or system."""

    path: str
    scope: str = "project"
    host: str = ""
    """The host in whose folder it is (``discovery.hosts``); empty for a folder that was named."""
    plugin: str = ""
    """The plugin that the folder belongs to; it goes before the names of its skills."""


STABLE_AFTER_NS = 2_000_000_000
"""Age in ns from which a file's times show every later change. Timestamps of common file systems
tick every 1 to 10 ms; 2 s covers the coarse ones."""


class Stamp(NamedTuple):
    """Times, size and identity of a file. Equal stamps mean an unchanged file."""

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int
    device: int

    @classmethod
    def of(cls, now: os.stat_result) -> "Stamp":
        """Return the stamp of a file with that status."""
        return cls(now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_dev)


class Candidate(NamedTuple):
    """One file that should be a skill."""

    path: str
    """The root as passed by the caller, joined with the path below it, with ``/``."""
    parts: tuple[str, ...]
    """The path below the root."""
    origin: str
    folder: str | None
    """Name of the skill's folder. None for single files."""
    stamp: Stamp
    scope: str
    root: int
    """Index of the root."""
    references: tuple[Reference, ...] = ()
    target: str | None = None
    """The real file, when ``path`` is a link that stays inside its folder."""
    plugin: str = ""
    """The name of its plugin, which is a prefix of the skill's name."""
    pages: tuple[Stamp, ...] = ()
    """The stamps of the first references, whose beginnings are indexed with it."""

    def stamps(self) -> Iterator[tuple[str, Stamp]]:
        """Yield each file that its document depends on, by path."""
        yield self.path, self.stamp
        for reference, stamp in zip(self.references, self.pages, strict=False):
            yield self.path.removesuffix(self.parts[-1]) + reference.path, stamp


class CandidateFile(NamedTuple):
    """The content of a candidate, to be parsed."""

    candidate: Candidate
    data: bytes
    status: os.stat_result
    has_loaded: bool = False
    """It was a skill at the time of reading; the folders around it may be others now."""


FolderListing = tuple[str, os.stat_result, list[os.DirEntry[str]]]
"""A folder as it was listed: its path, its own status from before that, and its entries."""


class Observations(NamedTuple):
    """What a walk observed besides the candidates. Its results follow from both."""

    began_ns: int
    listings: tuple[FolderListing, ...]
    absent: tuple[str, ...]
    """Paths at which a file would have changed the walk."""
    places: Mapping[str, PlaceStamp]
    """What decided which roots the scopes have, by path, from before it was read."""


class Scan(NamedTuple):
    """The candidates, sorted by root and path, and the diagnostics of the walk."""

    candidates: tuple[Candidate, ...]
    diagnostics: tuple[Diagnostic, ...]
    folders: int
    observations: Observations | None = None
    """None when the results depend on more, such as the targets of links."""
