"""The index of a hook: opened as it is, and updated in the background.

Walking a project and reading changed files may take seconds. Opening an index takes milliseconds,
regardless of its size. Therefore the hook answers from the existing index. When the index was not
checked for some time, the hook starts a process that updates it for the next prompt.
"""

from __future__ import annotations

import os
import sys
from json import dumps

from skillyard.base.errors import IndexDamaged, SkillIoError
from skillyard.base.io.processes import start_detached
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.index.indexed_catalog import IndexedCatalog, open_current
from skillyard.engine.index.library_spec import index_folder, seconds_since_scan
from skillyard.hosts.hook.admission import ApprovedSkills
from skillyard.install.policy.library import find_policy

REFRESH_AFTER_S = 20.0
"""Seconds after which the index is checked again, in the background."""


def library_place(
    roots: tuple[str, ...], project: str | None, folder: str | None = None
) -> LibrarySpec:
    """Return the library of a prompt: named roots, the project, then the user's agent folders.

    ``project`` is a real path. Only its approved skills belong to the library. ``folder`` is that
    of the prompt (default: the project, else the working directory). Plugins and extensions that
    are disabled there do not belong to the library, and its policy holds. Raises SkillIoError for a
    policy that cannot be read.
    """
    place = os.path.abspath(folder or project or ".")
    policy = find_policy(place)
    spec = LibrarySpec(roots, ("user",), folder=place, policy=policy, find_policy=find_policy)
    if project is None:
        return spec
    return spec._replace(roots=(*roots, project), files=ApprovedSkills(project, roots))


def open_library(place: LibrarySpec, *, refresh: bool = True) -> IndexedCatalog | None:
    """Return the catalog over the index of a library, or None when there is no usable index.

    With ``refresh`` a background process is started when the index is missing, damaged or was not
    checked for some time. Writes nothing itself. Never raises.
    """
    index = index_folder(place)
    try:
        catalog = open_current(place, index, trusted=True)
    except (IndexDamaged, SkillIoError, OSError):
        catalog = None
    if refresh and (catalog is None or seconds_since_scan(index) >= REFRESH_AFTER_S):
        _start_refresh(place)
    return catalog


def _start_refresh(place: LibrarySpec) -> None:
    """Start the process that updates an index.

    The process is detached from terminal, streams and session, so that no host waits for it or
    kills it.
    """
    # -P: the current folder is a project's, and Python must not import from there.
    files = place.files if isinstance(place.files, ApprovedSkills) else None
    roots, project = (files.roots, files.project) if files else (place.roots, None)
    argument = dumps([roots, project, place.folder])
    arguments = [sys.executable, "-P", "-m", "skillyard.hosts.hook.index_refresh", argument]
    start_detached(arguments)
