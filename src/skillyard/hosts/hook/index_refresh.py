"""``python -m skillyard.hosts.hook.index_refresh LIBRARY``: updates the index of a hook.

The hook starts it in the background, at most once at a time for each library; LIBRARY is the
arguments of :func:`skillyard.hosts.hook.library.library_place` as JSON. It prints nothing and exits
with 0 on any error, which is in the hook's log: the next prompt starts it again.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress

from skillyard.base.configuration import own_file_only
from skillyard.base.errors import EmbedderFailed, SkillyardError
from skillyard.base.io.locks import file_lock
from skillyard.base.io.processes import lower_priority
from skillyard.base.text import clean_line
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.embedding.protocol import embed_in_one_thread
from skillyard.engine.index.index_update import refresh_index
from skillyard.engine.index.indexed_catalog import open_current
from skillyard.engine.index.library_spec import index_folder, is_fresh
from skillyard.engine.ranking.registry import bind, default_scorer, resolve
from skillyard.hosts.hook.journal import log_event
from skillyard.hosts.hook.library import library_place


def main(arguments: list[str]) -> int:
    """Update the index of a library."""
    try:
        roots, *others = json.loads(arguments[0])
        place = library_place(tuple(roots), *others)
        lower_priority()
        with own_file_only():
            bring_up_to_date(place)
    except Exception as error:  # noqa: BLE001 - nobody reads it, and the next prompt tries again
        log_event("index", "error", clean_line(f"{type(error).__name__}: {error}"))
    return 0


def bring_up_to_date(place: LibrarySpec) -> None:
    """Update the index to the current files, unless another process is doing so.

    Raises SkillyardError, OSError.
    """
    folder = index_folder(place)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    # The lock lies beside the folder, because a writer deletes unknown files in it.
    try:
        lock = file_lock(f"{folder}.refreshing")
    except BlockingIOError:
        return
    with lock:
        try:
            catalog = open_current(place, folder, trusted=True)
        except SkillyardError:
            catalog = None
        if catalog is None or not is_fresh(
            catalog.library.searcher, place, catalog.summary, force_scan=True
        ):
            refresh_index(place, folder)
    # Vectors may take minutes, and others need not wait for them to update the index.
    with suppress(EmbedderFailed):  # the hook logs that vectors are missing
        _compute_vectors(place, folder)


def _compute_vectors(place: LibrarySpec, folder: str) -> None:
    """Compute the vectors that the default scorer of the hook needs. Raises EmbedderFailed.

    One process does so at a time for each library, until the index is the one that it began with;
    others leave it to that one. A process that is killed loses one batch.
    """
    scorer = default_scorer()
    if "+" not in scorer:
        return
    try:
        lock = file_lock(f"{folder}.vectors")
    except BlockingIOError:
        return
    with lock:
        resolved = resolve(scorer)
        embed_in_one_thread(getattr(resolved, "embedder", None))
        while (catalog := open_current(place, folder, trusted=True)) is not None:
            bind(catalog, resolved)
            if not catalog.library.searcher.stale():
                return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
