"""The index that a hook answers from: opened as it is, and looked after when nobody waits.

Walking a project or reading what changed may take seconds; opening an index takes milliseconds
whatever its size. So the hook answers from the index that is there, and when it was not looked at
for a while it starts a process of its own that brings it up to date for the next prompt.
"""

from __future__ import annotations

import sys
from json import dumps

from skillyard.errors import IndexDamaged, SkillIoError
from skillyard.hook.admission import ApprovedSkills
from skillyard.index.indexed_catalog import IndexedCatalog, open_current
from skillyard.index.library_spec import LibrarySpec, index_folder, seconds_since_scan
from skillyard.io.processes import start_detached
from skillyard.limits import DEFAULT_LIMITS

__all__ = [
    "LOOKED_AT_S",
    "library_place",
    "named_by",
    "open_library",
    "start_refreshing",
]

LOOKED_AT_S = 20.0
"""Seconds after which the index is looked after again, in the background."""


def library_place(roots: tuple[str, ...], project: str | None) -> LibrarySpec:
    """Return the library of a prompt: named roots, the project, then the user's agent folders.

    Of the project (its real path) only what is approved belongs to it.
    """
    if project is None:
        return LibrarySpec(roots, ("user",), DEFAULT_LIMITS)
    admission = ApprovedSkills(project, roots)
    return LibrarySpec((*roots, project), ("user",), DEFAULT_LIMITS, admission)


def named_by(place: LibrarySpec) -> tuple[tuple[str, ...], str | None]:
    """Return the roots and the project that :func:`library_place` made a place of."""
    if isinstance(place.admission, ApprovedSkills):
        return place.admission.roots, place.admission.project
    return place.roots, None


def open_library(place: LibrarySpec, *, refresh: bool = True) -> IndexedCatalog | None:
    """Return the catalog over the index of a library, or None where there is none to use.

    With ``refresh`` an index that is missing, damaged or not looked at for a while is seen to by
    a process in the background. Never writes anything itself, never raises.
    """
    folder = index_folder(place)
    try:
        catalog = open_current(place, folder, trusted=True)
    except (IndexDamaged, SkillIoError, OSError):
        catalog = None
    if refresh and (catalog is None or seconds_since_scan(folder) >= LOOKED_AT_S):
        start_refreshing(place)
    return catalog


def start_refreshing(place: LibrarySpec) -> bool:
    """Start the process that brings an index up to date; False when it could not be started.

    It has no terminal, no streams and a session of its own: no host waits for it or ends it.
    """
    # -P: the current folder is a project's, and nothing must be imported from there.
    roots, project = named_by(place)
    given = dumps({"roots": roots, "project": project})
    arguments = [sys.executable, "-P", "-m", "skillyard.hook.refreshing", given]
    return start_detached(arguments)
