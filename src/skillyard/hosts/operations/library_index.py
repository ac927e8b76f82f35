"""The index of a library: build it, report its state, and verify it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from skillyard.base.errors import Diagnostic, IndexDamaged
from skillyard.base.shapes.encoder import from_attributes
from skillyard.base.shapes.indexes import IndexBuilt, IndexStatus, IndexVerified
from skillyard.engine.catalog.entries import Progress
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.index.index_update import build_index
from skillyard.engine.index.index_writer import verify
from skillyard.engine.index.indexed_catalog import open_current
from skillyard.engine.index.library_spec import index_folder, is_fresh
from skillyard.engine.index.segment_searcher import open_index
from skillyard.install.policy.library import library_spec

STATES = {
    "current": "is current",
    "stale": "is stale: files changed since it was built; the next question updates it",
    "missing": "does not exist yet; the first question builds it",
    "foreign": "was built by another version; the next question builds it again",
    "damaged": "is damaged; the next question builds it again",
}
"""What each state of an index means."""


def index_build(
    roots: Sequence[str], scopes: Sequence[str] = (), *, progress: Progress | None = None
) -> IndexBuilt:
    """Rebuild the index of the roots. Raises SkillIoError, InvalidSkillsRoot, InvalidInput."""
    place = library_spec(roots, scopes)
    folder = index_folder(place)
    changes = build_index(place, folder, progress=progress)
    catalog = open_current(place, folder, trusted=True)
    diagnostics = () if catalog is None else catalog.diagnostics
    return from_attributes(
        IndexBuilt,
        changes,
        folder=folder,
        diagnostics=tuple(each.document() for each in diagnostics),
    )


def index_status(roots: Sequence[str], scopes: Sequence[str] = ()) -> IndexStatus:
    """Return the state of the index of the roots. Raises SkillIoError, InvalidSkillsRoot."""
    return status_of(library_spec(roots, scopes))


def status_of(place: LibrarySpec) -> IndexStatus:
    """Return the state of the index of a library. Raises SkillIoError, InvalidSkillsRoot."""
    folder = index_folder(place)
    none = IndexStatus(
        folder=folder,
        state="missing",
        generation=0,
        skills=0,
        segments=0,
        bytes=0,
        settings={},
        problem="",
    )
    try:
        searcher = open_index(folder)
        if searcher is None:
            place.scan()  # a root that is no folder is an error here too
            return none
        catalog = open_current(place, folder, trusted=True)
        state = "foreign" if catalog is None else "stale"
        if catalog is not None and is_fresh(
            searcher, place, catalog.summary, force_scan=True, touch=False
        ):
            state = "current"
    except IndexDamaged as error:
        return replace(none, state="damaged", problem=str(error), bytes=_bytes(folder))
    return replace(
        none,
        state=state,
        generation=searcher.generation,
        skills=0 if catalog is None else catalog.counts.skills,
        segments=len(searcher.segments),
        bytes=_bytes(folder),
        settings=dict(searcher.settings),
    )


def _bytes(folder: str) -> int:
    try:
        with os.scandir(folder) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.is_file())
    except OSError:
        return 0


def index_verify(roots: Sequence[str], scopes: Sequence[str] = ()) -> IndexVerified:
    """Verify every byte of the index of the roots. Raises SkillIoError, InvalidInput."""
    folder = index_folder(library_spec(roots, scopes))
    try:
        findings = tuple(verify(folder))
    except IndexDamaged as error:
        damage = Diagnostic("index_damaged", "error", error.path or folder, error.message)
        findings = (damage,)
    return IndexVerified(
        folder=folder,
        sound=all(finding.severity != "error" for finding in findings),
        findings=tuple(finding.document() for finding in findings),
    )
