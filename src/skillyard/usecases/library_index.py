"""The index of a library: build it, report its state, verify it, and follow file changes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from skillyard.catalog.entries import Progress
from skillyard.catalog.snapshot import parse_roots
from skillyard.errors import Diagnostic, IndexDamaged, SkillyardError
from skillyard.index.index_reader import open_index
from skillyard.index.index_update import IndexChanges, build_index, refresh_index
from skillyard.index.indexed_catalog import open_current as current_catalog
from skillyard.index.integrity import verify
from skillyard.index.library_spec import LibrarySpec, index_folder, is_fresh
from skillyard.limits import DEFAULT_LIMITS

__all__ = [
    "IndexBuilt",
    "IndexStatus",
    "IndexVerified",
    "index_build",
    "index_follow",
    "index_status",
    "index_verify",
    "status_of",
]

EVERY_S = 1.0
"""Seconds between two looks at the files while they are followed."""


class IndexBuilt(NamedTuple):
    """The result of building or updating an index."""

    folder: str
    generation: int
    skills: int
    added: int
    changed: int
    removed: int
    diagnostics: tuple[Diagnostic, ...]
    """What there is to say of the library's files."""
    hook_folders: tuple[str, ...] = ()
    """The indexes of the same library for prompt hooks, which are up to date as well."""
    hook_problem: str = ""
    """Why a hook has to make its index itself; empty where it has one."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.index-build/1``."""
        fields = self._asdict()
        fields["diagnostics"] = [each.to_dict() for each in self.diagnostics]
        fields["hook_folders"] = list(self.hook_folders)
        return {"schema": "skillyard.index-build/1", **fields}


class IndexStatus(NamedTuple):
    """The state of an index. Without one all but ``folder`` and ``state`` are empty."""

    folder: str
    state: str
    """``current``, ``stale`` (files changed: the next question mends it), ``missing``,
    ``damaged`` or ``foreign`` (made by another version or with another table)."""
    generation: int
    skills: int
    segments: int
    bytes: int
    settings: dict[str, str]
    problem: str

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.index-status/1``."""
        return {"schema": "skillyard.index-status/1", **self._asdict()}


class IndexVerified(NamedTuple):
    """The result of verifying an index."""

    folder: str
    findings: tuple[Diagnostic, ...]

    @property
    def sound(self) -> bool:
        """True without faults; a stray file is not a fault."""
        return all(finding.severity != "error" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.index-verify/1``."""
        return {
            "schema": "skillyard.index-verify/1",
            "folder": self.folder,
            "sound": self.sound,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def _place(roots: Sequence[str], scopes: Sequence[str]) -> LibrarySpec:
    return LibrarySpec(*parse_roots(tuple(roots), scopes), DEFAULT_LIMITS)


def index_build(
    roots: Sequence[str],
    scopes: Sequence[str] = (),
    *,
    adapt: bool = False,
    progress: Progress | None = None,
) -> IndexBuilt:
    """Rebuild the index of the roots; ``adapt`` also trains the library's own embedding directions.

    A prompt hook over the same roots, in a session of the current folder, then needs no build.

    Raises SkillIoError, InvalidSkillsRoot, InvalidInput.
    """
    from skillyard.hook.index_refresh import prepare_hooks  # it loads what hooks need

    place = _place(roots, scopes)
    folder = index_folder(place)
    built = _built(place, folder, build_index(place, folder, adapt=adapt, progress=progress))
    try:
        return built._replace(hook_folders=prepare_hooks(place, os.getcwd()))
    except (SkillyardError, OSError) as error:
        return built._replace(hook_problem=str(error))


def _built(place: LibrarySpec, folder: str, changes: IndexChanges) -> IndexBuilt:
    catalog = current_catalog(place, folder, trusted=True)
    diagnostics = () if catalog is None else catalog.diagnostics
    return IndexBuilt(
        folder,
        changes.generation,
        changes.skills,
        changes.added,
        changes.changed,
        changes.removed,
        diagnostics,
    )


def index_follow(
    roots: Sequence[str], scopes: Sequence[str] = (), *, every_s: float = EVERY_S
) -> Iterator[IndexBuilt]:
    """Yield after each change of the files that has reached the index. Never ends by itself.

    Raises what :func:`index_build` raises.
    """
    place = _place(roots, scopes)
    folder = index_folder(place)
    while True:
        changes = _follow_once(place, folder)
        if changes is not None:
            yield _built(place, folder, changes)
        time.sleep(every_s)


def _follow_once(place: LibrarySpec, folder: str) -> IndexChanges | None:
    try:
        catalog = current_catalog(place, folder, trusted=True)
        if catalog is not None and is_fresh(
            catalog.library.searcher, place, catalog.summary, force_scan=True
        ):
            return None
    except IndexDamaged:
        pass  # rebuilt below
    changes = refresh_index(place, folder)
    return changes if changes.added or changes.changed or changes.removed else None


def index_status(roots: Sequence[str], scopes: Sequence[str] = ()) -> IndexStatus:
    """Return the state of the index of the roots. Raises SkillIoError, InvalidSkillsRoot."""
    return status_of(_place(roots, scopes))


def status_of(place: LibrarySpec) -> IndexStatus:
    """Return the state of the index of a library. Raises SkillIoError, InvalidSkillsRoot."""
    folder = index_folder(place)
    none = IndexStatus(folder, "missing", 0, 0, 0, 0, {}, "")
    try:
        searcher = open_index(folder)
        if searcher is None:
            place.scan()  # a root that is no folder is an error here too
            return none
        catalog = current_catalog(place, folder, trusted=True)
        state = "foreign" if catalog is None else "stale"
        if catalog is not None and is_fresh(
            searcher, place, catalog.summary, force_scan=True, touch=False
        ):
            state = "current"
    except IndexDamaged as error:
        return none._replace(state="damaged", problem=str(error), bytes=_bytes(folder))
    return IndexStatus(
        folder,
        state,
        searcher.generation,
        0 if catalog is None else catalog.counts.skills,
        len(searcher.segments),
        _bytes(folder),
        dict(searcher.settings),
        "",
    )


def _bytes(folder: str) -> int:
    try:
        with os.scandir(folder) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.is_file())
    except OSError:
        return 0


def index_verify(roots: Sequence[str], scopes: Sequence[str] = ()) -> IndexVerified:
    """Verify every byte of the index of the roots. Raises SkillIoError, InvalidInput."""
    folder = index_folder(_place(roots, scopes))
    try:
        return IndexVerified(folder, tuple(verify(folder)))
    except SkillyardError as error:
        if isinstance(error, IndexDamaged):
            wrong = Diagnostic("index_damaged", "error", error.path or folder, error.message)
            return IndexVerified(folder, (wrong,))
        raise
