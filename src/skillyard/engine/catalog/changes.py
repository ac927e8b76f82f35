"""Detects changed files with one ``stat`` for each known file and folder."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping

from skillyard.engine.catalog.entries import Entry, read_one, reuse_skill
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.discovery import Stamp
from skillyard.engine.discovery.candidate import FolderStamp

Times = tuple[int, int, int, int, int]


def changed_entries(entries: Iterable[Entry], folders: Iterable[FolderStamp]) -> list[Entry] | None:
    """Return the entries whose file has a new stamp (times, size, identity) since it was read.

    None when a folder changed or a file is gone: then only a walk finds the added and removed
    files. Entries and folders that are not stable count as changed.
    """
    try:
        if any(os.stat(folder.path).st_mtime_ns != folder.mtime_ns for folder in folders):
            return None
        return [each for each in entries if not each.is_stable or _stamp(each) != each[0].stamp]
    except OSError:
        return None


def _stamp(entry: Entry) -> Times:
    """Return the current stamp of a file, as a tuple that compares equal to a Stamp."""
    path = entry.candidate.target or entry.candidate.path
    now = os.stat(path, follow_symlinks=False)
    return now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_dev


def refreshed_entries(
    known: Mapping[str, Entry], folders: Iterable[FolderStamp], spec: LibrarySpec
) -> dict[str, Entry] | None:
    """Return the entries by path, with the changed files read again.

    None when :func:`changed_entries` returns None.
    """
    changed = changed_entries(known.values(), folders)
    if changed is None:
        return None
    entries = dict(known)
    for entry in changed:
        try:
            stamp = Stamp(*_stamp(entry))
        except OSError:  # removed since
            return None
        candidate = entry.candidate._replace(stamp=stamp)
        now = read_one(candidate, spec, time.time_ns())
        entries[candidate.path] = reuse_skill(now, entry)
    return entries
