"""``python -m skillyard.hook.refreshing LIBRARY``: bring the index of a hook up to date.

Started in the background by the hook. One at a time for each library; says nothing and leaves 0
behind whatever happens: the next prompt finds an index, or starts it again.
"""

from __future__ import annotations

import json
import os
import sys

from skillyard.errors import SkillyardError
from skillyard.hook.library import library_place, named_by
from skillyard.index.clone import clone_index
from skillyard.index.index_update import refresh_index
from skillyard.index.indexed_catalog import open_current
from skillyard.index.library_spec import LibrarySpec, index_folder, is_fresh
from skillyard.io.locks import file_lock
from skillyard.io.processes import lower_priority

__all__ = ["bring_up_to_date", "main"]


def main(arguments: list[str]) -> int:
    """Take ``{"roots": [...], "project": ...}``, look after the index; 2 for anything else."""
    try:
        named = json.loads(arguments[0])
        project = None if named["project"] is None else str(named["project"])
        place = library_place(tuple(str(root) for root in named["roots"]), project)
    except (IndexError, KeyError, ValueError, TypeError):
        return 2
    try:
        lower_priority()
        bring_up_to_date(place)
    except (SkillyardError, OSError):
        pass
    return 0


def bring_up_to_date(place: LibrarySpec) -> bool:
    """Make the index say what the files say; False when another process is at it.

    A new one begins with what the index of the named roots holds, where there is one. Raises
    SkillyardError, OSError.
    """
    folder = index_folder(place)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    # Beside the folder, since a writer takes everything in it that it does not know for a leftover.
    try:
        lock = file_lock(f"{folder}.refreshing")
    except BlockingIOError:
        return False
    with lock:
        roots, _ = named_by(place)
        if roots:  # never a project's: not all of it may be approved
            clone_index(place, LibrarySpec(roots, (), place.limits))
        try:
            catalog = open_current(place, folder, trusted=True)
        except SkillyardError:
            catalog = None
        if catalog is None or not is_fresh(
            catalog.library.searcher, place, catalog.summary, force_scan=True
        ):
            refresh_index(place, folder)
        return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
