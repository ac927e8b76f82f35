"""Where the index of a library lies, and whether it still says what the files say."""

from __future__ import annotations

import os
import time
from json import dumps
from typing import TYPE_CHECKING, NamedTuple, Protocol

from skillyard.digest import sha256
from skillyard.index.identity import settings_of
from skillyard.index.manifest import NAME
from skillyard.index.table import Table, bundled
from skillyard.io.user_folders import cache_folder

if TYPE_CHECKING:
    from skillyard.discovery import Scan
    from skillyard.index.reader import SegmentSearcher
    from skillyard.index.summary import Summary
    from skillyard.limits import Limits

    class Admission(Protocol):
        """Decides which files of a library are taken.

        This is before names are settled and words are counted, so that what is left out changes
        nothing for the others.
        """

        @property
        def key(self) -> str:
            """What tells the index of this library from that of all files."""

        def filter_scan(self, found: Scan) -> Scan:
            """Return the scan without what does not belong; diagnostics say why."""

        def real(self) -> Admission:
            """Return the same for roots that are named where they lead."""


__all__ = [
    "Place",
    "cache_folder",
    "fingerprint",
    "fresh",
    "index_folder",
    "real_root",
    "settings",
    "table_of",
]

ADAPTED = "adapted"
"""The setting of an index whose table knows the library's own words."""
VERSION = "5"
"""Grows when records, state or summary change their shape."""

RUNTIME_FOLDER = ".skills"
"""As in ``discovery.layout``, which an answer from an index does not load."""

LOOKED_AT_EACH_TIME = 2_000
"""Skills up to which every question looks at all files first: a walk of milliseconds."""
TRUSTED_S = 30.0
"""Seconds for which a larger library is taken to be as it was when it was last looked at."""


class Place(NamedTuple):
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

        found = scan(all_roots(self.roots, self.scopes), self.limits)
        return found if self.admission is None else self.admission.filter_scan(found)

    def look(self) -> Scan:
        """Walk the roots where they lead. Raises InvalidSkillsRoot, with the root as named."""
        from skillyard.errors import InvalidSkillsRoot

        try:
            return self.real().scan()
        except InvalidSkillsRoot:
            self.scan()
            raise

    def real(self) -> Place:
        """Return the library with its roots where they lead: what one index is made of.

        However a folder is named (``lib``, ``./lib``, by a link), it has one index;
        :mod:`skillyard.index.spelling` gives the paths back as the roots were named.
        """
        roots = tuple(map(real_root, self.roots))
        admission = None if self.admission is None else self.admission.real()
        return self._replace(roots=roots, admission=admission)


def real_root(root: str) -> str:
    """Return where a root leads, as an index of it is made."""
    real = os.path.realpath(root)
    named = os.path.abspath(root)
    # A link called .skills makes a store of runtime documents of whatever it leads to.
    runtime = os.path.basename(named).lower() == RUNTIME_FOLDER
    return named if runtime and os.path.basename(real).lower() != RUNTIME_FOLDER else real


def index_folder(place: Place) -> str:
    """Return the folder of the index of a library: one for the same real folders."""
    real = place.real()
    named = [*real.roots] if real.admission is None else [*real.roots, real.admission.key]
    text = "\n".join([*named, *real.scopes, repr(tuple(real.limits))])
    name = sha256(text.encode("utf-8", "surrogatepass")).hex()[:24]
    return os.path.join(cache_folder(), "index", name)


def settings(table: Table) -> dict[str, str]:
    """Return what an index of files is made with; an adapted table says what it grew from."""
    found = {**settings_of(table), "keeping": VERSION}
    base = bundled()
    return found if table.id == base.id else {**found, ADAPTED: base.id}


def table_of(searcher: SegmentSearcher) -> Table:
    """Return the table that an index was made with: its own, adapted one, or the bundled one.

    Raises IndexDamaged.
    """
    base = bundled()
    if searcher.settings.get(ADAPTED) != base.id:
        return base
    data = searcher.side_file("table")
    return base if data is None else Table(data, searcher.folder, trusted=True)


def fingerprint(found: Scan) -> str:
    """Return a digest of everything that a walk has seen: paths, stamps, what it had to say."""
    seen = dumps([found.candidates, found.diagnostics], separators=(",", ":"))
    return sha256(seen.encode("ascii")).hex()


def fresh(
    searcher: SegmentSearcher,
    place: Place,
    summary: Summary,
    *,
    look: bool = False,
    touch: bool = True,
) -> bool:
    """True when the index says what the files say, as far as has to be looked.

    Small libraries are walked each time, larger ones when :data:`TRUSTED_S` have passed, all of
    them where ``look`` is True. A file that was young when it was read is read again. ``touch``
    records in the time of the manifest that the files were looked at.
    """
    trusted = summary.documents > LOOKED_AT_EACH_TIME and not look
    if trusted and _age(searcher.folder) < TRUSTED_S:
        return True
    same = summary.settled and fingerprint(place.look()) == summary.fingerprint
    if same and touch:
        _touch(searcher.folder)
    return same


def _age(folder: str) -> float:
    """Return seconds since the files were last looked at; the manifest's time says when."""
    try:
        age = time.time() - os.stat(os.path.join(folder, NAME)).st_mtime
    except OSError:
        return TRUSTED_S
    return age if age >= 0 else TRUSTED_S


def _touch(folder: str) -> None:
    try:
        os.utime(os.path.join(folder, NAME))
    except OSError:
        pass  # a cache that may only be read is looked at each time
