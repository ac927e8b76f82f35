"""The record of a walk, stored with the index: it shows whether another walk would find the same.

It contains the names and kinds of the entries of each folder that was listed, and the stamp of each
candidate. All results of a walk follow from these, so a comparison sees every change that a walk
sees. A folder whose own times are unchanged is not listed again, where folder times can be trusted:
on the file system that holds the index, after a file written there changed the time of its folder.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillyard.engine.discovery import Scan
    from skillyard.engine.discovery.candidate import Observations

MAX_ENTRIES = 100_000
"""Entries of all folders in a record: some megabytes."""
STABLE_AFTER_NS = 2_000_000_000
"""The same value as in ``discovery.candidate``, which a query does not import."""
_PROBE = "folder-times.tmp"


def encode_walk(scan: Scan, fingerprint: str, index_folder: str) -> bytes:
    """Return the record of a walk as bytes (JSON); ``fingerprint`` is that of the scan.

    Empty for a walk that met links, or something that it could not read: what it found depends on
    more than listings. Empty on Windows too, where a listing does not show junctions.
    """
    observations = scan.observations
    if observations is None or sys.platform == "win32":
        return b""
    if sum(len(listing.entries) for listing in observations.listings) > MAX_ENTRIES:
        return b""
    record = {
        "fingerprint": fingerprint,
        "folders": _encode_folders(observations, index_folder),
        "files": [(candidate.path, candidate.stamp) for candidate in scan.candidates],
        "absent": observations.absent,
    }
    return json.dumps(record, separators=(",", ":")).encode("ascii")


def _encode_folders(observations: Observations, index_folder: str) -> list[tuple[Any, ...]]:
    device = _device_with_folder_times(index_folder)

    def stamp(status: os.stat_result) -> list[int] | None:
        is_stable = status.st_ctime_ns + STABLE_AFTER_NS < observations.began_ns
        return _folder_stamp(status) if is_stable and status.st_dev == device else None

    return [
        (path, stamp(status), _marked_names(entries))
        for path, status, entries in observations.listings
    ]


def _device_with_folder_times(folder: str) -> int | None:
    """Return the device of a folder; None when a new file does not change the folder's time."""
    try:
        os.utime(folder, (0, 0))
        probe = os.path.join(folder, _PROBE)
        with open(probe, "wb"):
            pass
        os.unlink(probe)
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev if status.st_mtime_ns > 0 else None


def is_unchanged(record: bytes | None, fingerprint: str) -> bool:
    """Return True when a walk would give the scan with this fingerprint.

    False when something changed, and when ``record`` belongs to another scan or is empty.
    """
    if not record:
        return False
    known = json.loads(record)
    try:
        return (
            known["fingerprint"] == fingerprint
            and all(_is_same_folder(*folder) for folder in known["folders"])
            and all(_file_stamp(path) == stamp for path, stamp in known["files"])
            and not any(map(os.path.lexists, known["absent"]))
        )
    except OSError:
        return False


def _is_same_folder(path: str, stamp: list[int] | None, names: list[str]) -> bool:
    if stamp is not None and _folder_stamp(os.stat(path, follow_symlinks=False)) == stamp:
        return True
    with os.scandir(path) as entries:
        return _marked_names(entries) == names


def _folder_stamp(status: os.stat_result) -> list[int]:
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev]


def _marked_names(entries: Iterable[os.DirEntry[str]]) -> list[str]:
    """Return the names of the entries, sorted, each with a mark of its kind.

    The marks contain a slash, which no name contains.
    """
    return sorted([entry.name + _mark(entry) for entry in entries])


def _mark(entry: os.DirEntry[str]) -> str:
    if entry.is_file(follow_symlinks=False):
        return ""
    if entry.is_dir(follow_symlinks=False):
        return "/"
    return "/link" if entry.is_symlink() else "/other"


def _file_stamp(path: str) -> list[int]:
    """Return the stamp of a file in the order of :class:`skillyard.engine.discovery.Stamp`."""
    now = os.stat(path, follow_symlinks=False)
    return [now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_dev]
