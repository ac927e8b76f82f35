"""A glance at files and folders that are known: which of them are not as they were."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping

from skillyard.catalog.reading import Entry, kept, read_one
from skillyard.discovery import Stamp
from skillyard.discovery.candidate import Visited
from skillyard.limits import Limits

__all__ = ["glanced", "moved"]

Times = tuple[int, int, int, int, int]


def moved(entries: Iterable[Entry], visited: Iterable[Visited]) -> list[Entry] | None:
    """Return the entries whose files do not have the times, size and identity that were seen.

    None where a folder has changed or a file has gone: only a walk tells what came and went.
    Entries and folders that were young when they were read count as moved.
    """
    try:
        if any(os.stat(folder.path).st_mtime_ns != folder.mtime_ns for folder in visited):
            return None
        return [each for each in entries if not each.settled or _stamp(each) != each[0].stamp]
    except OSError:
        return None


def _stamp(entry: Entry) -> Times:
    """Return the members of a Stamp, which compare with one."""
    path = entry.candidate.target or entry.candidate.path
    now = os.stat(path, follow_symlinks=False)
    return now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_dev


def glanced(
    known: Mapping[str, Entry], visited: Iterable[Visited], limits: Limits
) -> dict[str, Entry] | None:
    """Return the entries as their files are now, by path; None as :func:`moved` returns it."""
    found = moved(known.values(), visited)
    if found is None:
        return None
    entries = dict(known)
    for entry in found:
        try:
            stamp = Stamp(*_stamp(entry))
        except OSError:  # it has gone since
            return None
        candidate = entry.candidate._replace(stamp=stamp)
        entries[candidate.path] = kept(read_one(candidate, limits, time.time_ns()), entry)
    return entries
