"""Making the index that a prompt hook answers from before the first prompt comes."""

from __future__ import annotations

import os
from collections.abc import Iterator

from skillyard.hook.library import library_place
from skillyard.hook.refreshing import bring_up_to_date
from skillyard.hook.trust import Project, project_above
from skillyard.index.indexed_catalog import indexing_is_off
from skillyard.index.library_spec import LibrarySpec, index_folder, real_root

__all__ = ["prepare_hooks"]


def prepare_hooks(built: LibrarySpec, folder: str) -> tuple[str, ...]:
    """Bring the indexes up to date that hooks over a library answer from; return their folders.

    ``built`` is a library whose index is up to date, ``folder`` the one that sessions start in.
    Beside the library a hook reads the user's own skills, and of a project those that are
    approved. An index that another process is at is left to that one. Raises SkillyardError,
    OSError.
    """
    if indexing_is_off():
        return ()
    places = dict.fromkeys(_places(built, project_above(folder)))
    return tuple(index_folder(place) for place in places if bring_up_to_date(place))


def _places(built: LibrarySpec, project: Project | None) -> Iterator[LibrarySpec]:
    """Yield the libraries of a hook without roots, and of one that names the roots of ``built``."""
    path = None if project is None else project.path
    real = {real_root(root) for root in built.roots}
    if path in real or built.scopes:
        yield library_place((), path)
    if real - {path}:
        yield library_place(tuple(map(os.path.abspath, built.roots)), path)
