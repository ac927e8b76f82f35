"""The index of a described library: its folder, settings and freshness."""

from __future__ import annotations

import os
import time
from json import dumps
from math import inf
from typing import TYPE_CHECKING

from skillyard.base.io.files import open_to_read
from skillyard.base.io.paths import ancestors
from skillyard.base.io.sha256 import sha256
from skillyard.base.io.user_folders import cache_folder
from skillyard.engine.analysis.analyzer import VERSION as ANALYZER_VERSION
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.index.manifest import NAME
from skillyard.engine.index.token_table import bundled_table
from skillyard.engine.index.walk_record import is_unchanged

if TYPE_CHECKING:
    from skillyard.engine.discovery import Scan
    from skillyard.engine.index.library_summary import LibrarySummary
    from skillyard.engine.index.segment_searcher import SegmentSearcher

WALK = "walk"
"""The side file with the record of the walk; see :mod:`skillyard.engine.index.walk_record`."""
WEIGHTING_VERSION = 7
"""Version of reading, impacts, facet terms and vectors. A change forces a rebuild."""
VERSION = "13"
"""Version of the formats of records, state, summary and walk record, and of what is read of a
file."""

MAX_ALWAYS_SCANNED = 2_000
"""Libraries up to this number of skills are scanned before each query: a few milliseconds."""
MAX_SETTINGS = 65_536
"""Bytes of a file of settings that are searched for plugins."""
FRESH_S = 30.0
"""Seconds for which a larger library counts as unchanged after a scan."""


def index_folder(spec: LibrarySpec) -> str:
    """Return the folder of the index of a library.

    Libraries of equal resolved roots share it, if the same plugins and extensions are enabled.
    """
    real = spec.resolve()
    parts = [*real.roots] if real.files is None else [*real.roots, real.files.key]
    if {"project", "marketplaces", "packages"}.intersection(
        real.scopes
    ):  # their folders are those above the one of the work
        parts.append(os.path.abspath(real.folder))
    elif "user" in real.scopes:
        parts.extend(_disabled_for(real.folder))
    # Without a policy it is left out, so that no index changes.
    policy = () if real.policy is None else (repr(real.policy),)
    text = "\n".join([*parts, *real.scopes, repr(tuple(real.limits)), *policy])
    name = sha256(text.encode("utf-8", "surrogatepass")).hex()[:24]
    return os.path.join(cache_folder(), "index", name)


def _disabled_for(folder: str) -> tuple[str, ...]:
    """Return the user's plugins and extensions that are not loaded for the work in a folder.

    Discovery is only loaded where a file may disable any: that takes longer than opening an index.
    """
    rules = os.path.expanduser("~/.gemini/extensions/extension-enablement.json")
    settings = (
        os.path.join(above, ".claude", name)
        for above in ancestors(os.path.abspath(folder))
        for name in ("settings.json", "settings.local.json")
    )
    if not os.path.lexists(rules) and not any(map(_names_plugins, settings)):
        return ()
    from skillyard.engine.discovery.scopes import disabled_for

    return disabled_for(folder)


def _names_plugins(path: str) -> bool:
    """True for a file of settings with a word about plugins, and for one that is too large."""
    if not os.path.isfile(path):
        return False
    try:
        descriptor = open_to_read(path, follow=True)
        try:
            data = os.read(descriptor, MAX_SETTINGS)
        finally:
            os.close(descriptor)
    except OSError:
        return False
    return b"enabledPlugins" in data or len(data) == MAX_SETTINGS


def index_settings() -> dict[str, str]:
    """Return the settings of an index. An index with other settings is rebuilt."""
    return {
        "analyzer": str(ANALYZER_VERSION),
        "weighing": str(WEIGHTING_VERSION),
        "table": bundled_table().id,
    }


def file_index_settings() -> dict[str, str]:
    """Return the settings of an index of files."""
    return {**index_settings(), "keeping": VERSION}


def scan_fingerprint(files: Scan) -> str:
    """Return a digest of a scan: paths, stamps and diagnostics."""
    text = dumps([files.candidates, files.diagnostics], separators=(",", ":"))
    return sha256(text.encode("ascii")).hex()


def is_fresh(
    searcher: SegmentSearcher,
    spec: LibrarySpec,
    summary: LibrarySummary,
    *,
    force_scan: bool = False,
    touch: bool = True,
) -> bool:
    """Return True when the index matches the files.

    Small libraries are checked each time, larger ones after :data:`FRESH_S` seconds, and all of
    them with ``force_scan``. The check compares the files with the record of the last walk, and
    walks again where that shows a change. The index is stale when a file was modified shortly
    before it was read. ``touch`` records the time of the check as the modification time of the
    manifest.
    """
    trusted = summary.documents > MAX_ALWAYS_SCANNED and not force_scan
    if trusted and seconds_since_scan(searcher.folder) < FRESH_S:
        return True
    same = summary.is_final and (
        is_unchanged(searcher.side_file(WALK), summary.fingerprint)
        or scan_fingerprint(spec.scan_resolved()) == summary.fingerprint
    )
    if same and touch:
        _record_scan(searcher.folder)
    return same


def seconds_since_scan(folder: str) -> float:
    """Return the seconds since an index was last compared with its files; infinite where unknown.

    The modification time of the manifest records it.
    """
    try:
        age = time.time() - os.stat(os.path.join(folder, NAME)).st_mtime
    except OSError:
        return inf
    return age if age >= 0 else inf


def _record_scan(folder: str) -> None:
    try:
        os.utime(os.path.join(folder, NAME))
    except OSError:
        pass  # a read-only cache is scanned each time
