"""Where the index of a library lies, and whether it still says what the files say."""

from __future__ import annotations

import os
import time
from json import dumps
from typing import TYPE_CHECKING, NamedTuple, Protocol

from skillyard.digest import sha256
from skillyard.index.identity import index_settings
from skillyard.index.manifest import NAME
from skillyard.index.token_table import TokenTable, bundled_table
from skillyard.io.user_folders import cache_folder

if TYPE_CHECKING:
    from skillyard.discovery import Scan
    from skillyard.index.library_summary import LibrarySummary
    from skillyard.index.segment_searcher import SegmentSearcher
    from skillyard.limits import Limits

    class Admission(Protocol):
        """Decides which files of a library are taken.

        This is before names are settled and words are counted, so that what is left out changes
        nothing for the others.
        """

        @property
        def key(self) -> str:
            """What tells the index of this library from that of all files."""

        def admitted(self, files: Scan) -> Scan:
            """Return the scan without what does not belong; diagnostics say why."""

        def resolved(self) -> Admission:
            """Return the same for roots that are named where they lead."""


__all__ = [
    "LibrarySpec",
    "cache_folder",
    "file_index_settings",
    "index_folder",
    "is_fresh",
    "real_root",
    "scan_fingerprint",
    "table_for",
]

ADAPTED = "adapted"
"""The setting of an index whose table knows the library's own words."""
VERSION = "5"
"""Grows when records, state or summary change their shape."""

RUNTIME_FOLDER = ".skills"
"""As in ``discovery.layout``, which an answer from an index does not load."""

MAX_ALWAYS_SCANNED = 2_000
"""Skills up to which every question looks at all files first: a walk of milliseconds."""
FRESH_S = 30.0
"""Seconds for which a larger library is taken to be as it was when it was last looked at."""


class LibrarySpec(NamedTuple):
    """A library to be indexed: its roots as they were given."""

    roots: tuple[str, ...]
    scopes: tuple[str, ...]
    limits: Limits
    admission: Admission | None = None
    """What of the files that are found belongs to the library; None for all of them."""

    def scan(self) -> Scan:
        """Walk the roots. Raises InvalidSkillsRoot."""
        from skillyard.catalog.snapshot import all_roots
        from skillyard.discovery import scan

        files = scan(all_roots(self.roots, self.scopes), self.limits)
        return files if self.admission is None else self.admission.admitted(files)

    def scan_resolved(self) -> Scan:
        """Walk the roots where they lead. Raises InvalidSkillsRoot, with the root as named."""
        from skillyard.errors import InvalidSkillsRoot

        try:
            return self.resolved().scan()
        except InvalidSkillsRoot:
            self.scan()
            raise

    def resolved(self) -> LibrarySpec:
        """Return the library with its roots where they lead: what one index is made of.

        However a folder is named (``lib``, ``./lib``, by a link), it has one index;
        :mod:`skillyard.index.path_mapping` gives the paths back as the roots were named.
        """
        roots = tuple(map(real_root, self.roots))
        admission = None if self.admission is None else self.admission.resolved()
        return self._replace(roots=roots, admission=admission)


def real_root(root: str) -> str:
    """Return where a root leads, as an index of it is made."""
    real = os.path.realpath(root)
    named = os.path.abspath(root)
    # A link called .skills makes a store of runtime documents of whatever it leads to.
    runtime = os.path.basename(named).lower() == RUNTIME_FOLDER
    return named if runtime and os.path.basename(real).lower() != RUNTIME_FOLDER else real


def index_folder(spec: LibrarySpec) -> str:
    """Return the folder of the index of a library: one for the same real folders."""
    real = spec.resolved()
    named = [*real.roots] if real.admission is None else [*real.roots, real.admission.key]
    text = "\n".join([*named, *real.scopes, repr(tuple(real.limits))])
    name = sha256(text.encode("utf-8", "surrogatepass")).hex()[:24]
    return os.path.join(cache_folder(), "index", name)


def file_index_settings(table: TokenTable) -> dict[str, str]:
    """Return what an index of files is made with; an adapted table says what it grew from."""
    settings = {**index_settings(table), "keeping": VERSION}
    base = bundled_table()
    return settings if table.id == base.id else {**settings, ADAPTED: base.id}


def table_for(searcher: SegmentSearcher) -> TokenTable:
    """Return the table that an index was made with: its own, adapted one, or the bundled one.

    Raises IndexDamaged.
    """
    base = bundled_table()
    if searcher.settings.get(ADAPTED) != base.id:
        return base
    data = searcher.side_file("table")
    return base if data is None else TokenTable(data, searcher.folder, trusted=True)


def scan_fingerprint(files: Scan) -> str:
    """Return a digest of everything that a walk has seen: paths, stamps, what it had to say."""
    seen = dumps([files.candidates, files.diagnostics], separators=(",", ":"))
    return sha256(seen.encode("ascii")).hex()


def is_fresh(
    searcher: SegmentSearcher,
    spec: LibrarySpec,
    summary: LibrarySummary,
    *,
    force_scan: bool = False,
    touch: bool = True,
) -> bool:
    """True when the index says what the files say, as far as has to be looked.

    Small libraries are walked each time, larger ones when :data:`FRESH_S` have passed, all of
    them where ``force_scan`` is True. A file that was young when it was read is read again. ``touch``
    records in the time of the manifest that the files were looked at.
    """
    trusted = summary.documents > MAX_ALWAYS_SCANNED and not force_scan
    if trusted and _seconds_since_scan(searcher.folder) < FRESH_S:
        return True
    same = summary.is_final and scan_fingerprint(spec.scan_resolved()) == summary.fingerprint
    if same and touch:
        _record_scan(searcher.folder)
    return same


def _seconds_since_scan(folder: str) -> float:
    """Return seconds since the files were last looked at; the manifest's time says when."""
    try:
        age = time.time() - os.stat(os.path.join(folder, NAME)).st_mtime
    except OSError:
        return FRESH_S
    return age if age >= 0 else FRESH_S


def _record_scan(folder: str) -> None:
    try:
        os.utime(os.path.join(folder, NAME))
    except OSError:
        pass  # a cache that may only be read is looked at each time
