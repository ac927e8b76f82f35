"""Keeping an index: where it lies, whether it still says what the files say, and mending it."""

from __future__ import annotations

import os
import time
from hashlib import sha256
from typing import NamedTuple

from skillyard.catalog.collisions import settle_names
from skillyard.catalog.reading import Entry, Progress, read_one
from skillyard.catalog.snapshot import all_roots
from skillyard.discovery import Scan, scan
from skillyard.errors import Diagnostic, IndexDamaged
from skillyard.index.building import document_of, settings_of
from skillyard.index.document import EXCLUDED
from skillyard.index.manifest import NAME
from skillyard.index.reader import SegmentSearcher, open_index
from skillyard.index.state import (
    Facts,
    Known,
    State,
    Summary,
    entry_of,
    key_of_candidate,
    load_state,
    record_of,
    state_bytes,
    summary_bytes,
)
from skillyard.index.table import Table, bundled
from skillyard.index.writer import IndexWriter
from skillyard.limits import Limits
from skillyard.skill import Origin

__all__ = ["Changes", "Place", "build", "cache_folder", "fresh", "index_folder", "refresh"]

VERSION = "1"
"""Grows when records, state or summary change their shape."""

LOOKED_AT_EACH_TIME = 2_000
"""Skills up to which every question looks at all files first: a walk of milliseconds."""
TRUSTED_S = 30.0
"""Seconds for which a larger library is taken to be as it was when it was last looked at."""


class Place(NamedTuple):
    """A library to be indexed: its roots as they were given."""

    roots: tuple[str, ...]
    scopes: tuple[str, ...]
    limits: Limits

    def scan(self) -> Scan:
        """Walk the roots. Raises InvalidSkillsRoot."""
        return scan(all_roots(self.roots, self.scopes), self.limits)


class Changes(NamedTuple):
    """What bringing an index up to date did."""

    generation: int
    added: int
    changed: int
    removed: int
    skills: int


def cache_folder() -> str:
    """Return the folder for what can be made again: ``SKILLYARD_CACHE``, else the user's cache."""
    own = os.environ.get("SKILLYARD_CACHE")
    if own:
        return own
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "skillyard")


def index_folder(place: Place) -> str:
    """Return the folder of the index for these roots, as they were given and where they lead."""
    named = [f"{root}\0{os.path.realpath(root)}" for root in place.roots]
    text = "\n".join([*named, *place.scopes, repr(tuple(place.limits))])
    name = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return os.path.join(cache_folder(), "index", name)


def settings(table: Table) -> dict[str, str]:
    """Return what an index of files is made with."""
    return {**settings_of(table), "keeping": VERSION}


def fresh(searcher: SegmentSearcher, place: Place, skills: int) -> bool:
    """True when the index says what the files say, as far as has to be looked.

    Small libraries are walked each time; larger ones when :data:`TRUSTED_S` have passed.
    """
    if skills > LOOKED_AT_EACH_TIME and _age(searcher.folder) < TRUSTED_S:
        return True
    state = state_of(searcher)
    found = place.scan()
    same = state is not None and found.diagnostics == state.scanned and _same(found, state)
    if same:
        _touch(searcher.folder)
    return same


def _same(found: Scan, state: State) -> bool:
    if len(found.candidates) != len(state.known):
        return False
    for candidate in found.candidates:
        known = state.known.get(candidate.path)
        if known is None or not known.settled or known.candidate != candidate:
            return False
    return True


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


def state_of(searcher: SegmentSearcher) -> State | None:
    """Return what the index remembers of the files, or None when that is lost."""
    try:
        data = searcher.side_file("state")
        return None if data is None else load_state(data)
    except (IndexDamaged, ValueError):
        return None


def build(
    place: Place, folder: str, *, table: Table | None = None, progress: Progress | None = None
) -> Changes:
    """Make the index anew from the files. Raises SkillIoError, InvalidSkillsRoot."""
    return _bring(place, folder, table or bundled(), progress, fresh=True)


def refresh(
    place: Place, folder: str, *, table: Table | None = None, progress: Progress | None = None
) -> Changes:
    """Bring the index up to date with the files: only what changed is read."""
    return _bring(place, folder, table or bundled(), progress, fresh=False)


WAIT_S = 30.0
"""Seconds to wait for another process that is bringing the same index up to date."""


def _bring(
    place: Place, folder: str, table: Table, progress: Progress | None, *, fresh: bool
) -> Changes:
    with IndexWriter(
        folder,
        dimensions=table.dimensions,
        settings=settings(table),
        wait_s=WAIT_S,
        fresh=fresh,
    ) as writer:
        state = None if fresh else _state_in(folder, table)
        if state is None:
            for key in list(writer.keys()):
                writer.delete(key)
            state = State({}, ())
        return _Update(place, writer, table, state).run(progress)


def _state_in(folder: str, table: Table) -> State | None:
    try:
        searcher = open_index(folder)
    except IndexDamaged:
        return None
    if searcher is None or searcher.settings != settings(table):
        return None
    return state_of(searcher)


class _Update:
    """One pass that makes the index say what the files say."""

    def __init__(self, place: Place, writer: IndexWriter, table: Table, before: State) -> None:
        self.place = place
        self.writer = writer
        self.table = table
        self.before = before.known
        self.counts = {"added": 0, "changed": 0, "removed": 0}

    def run(self, progress: Progress | None) -> Changes:
        """Look at all files, read those that changed, write their documents, commit."""
        found = self.place.scan()
        now = time.time_ns()
        entries: dict[str, Entry] = {}
        read: set[str] = set()
        for candidate in found.candidates:
            known = self.before.get(candidate.path)
            if known is not None and known.settled and known.candidate == candidate:
                entries[candidate.path] = entry_of(known)
            else:
                # Bodies are not kept: a library of a million skills must not be in memory at once.
                entry = read_one(candidate, self.place.limits, now)
                entries[candidate.path] = _slim(entry)
                read.add(candidate.path)
        shadowed, collisions = settle_names(entries.values())
        out = {skill.path for skill in shadowed}
        known_now = self._write(entries, read, out, progress)
        self._remove(entries)
        diagnostics = [d for entry in entries.values() for d in entry.diagnostics]
        diagnostics += [*found.diagnostics, *collisions]
        diagnostics.sort(key=lambda d: (d.path, d.line or 0, d.column or 0, d.code, d.message))
        return self._commit(State(known_now, found.diagnostics), tuple(diagnostics), out)

    def _write(
        self,
        entries: dict[str, Entry],
        read: set[str],
        shadowed: set[str],
        progress: Progress | None,
    ) -> dict[str, Known]:
        known_now: dict[str, Known] = {}
        for number, (path, entry) in enumerate(entries.items()):
            before = self.before.get(path)
            facts = None if entry.skill is None else Facts.of(entry.skill)
            flags = _flags(facts, path in shadowed)
            known_now[path] = Known(entry.candidate, facts, entry.diagnostics, entry.settled, flags)
            if path in read or before is None or before.flags != flags:
                self._document(entry, flags, is_new=before is None or before.facts is None)
            if progress is not None and number % 64 == 0:
                progress(number, len(entries))
        if progress is not None:
            progress(len(entries), len(entries))
        return known_now

    def _document(self, entry: Entry, flags: int, *, is_new: bool) -> None:
        """Write the document of one file, which is read again now that its flags are known."""
        key = key_of_candidate(entry.candidate)
        skill = None
        if entry.skill is not None:
            skill = read_one(entry.candidate, self.place.limits, time.time_ns()).skill
        if skill is None:
            self.counts["removed"] += self.writer.delete(key)
            return
        document = document_of(
            skill, self.table, excluded=bool(flags), record=record_of(entry.candidate)
        )
        self.writer.add(document._replace(key=key))
        self.counts["added" if is_new else "changed"] += 1

    def _remove(self, entries: dict[str, Entry]) -> None:
        for path, known in self.before.items():
            if path not in entries:
                self.counts["removed"] += self.writer.delete(key_of_candidate(known.candidate))

    def _commit(
        self, state: State, diagnostics: tuple[Diagnostic, ...], shadowed: set[str]
    ) -> Changes:
        loaded = {path: known for path, known in state.known.items() if known.facts is not None}
        patterns = {
            key_of_candidate(known.candidate): known.facts.files
            for known in loaded.values()
            if known.facts is not None and known.facts.files and not known.flags
        }
        summary = Summary(
            len(loaded),
            diagnostics,
            tuple(
                key_of_candidate(known.candidate)
                for path, known in loaded.items()
                if known.facts is not None and known.facts.hidden and path not in shadowed
            ),
            patterns,
        )
        self.writer.side_file("state", state_bytes(state))
        self.writer.side_file("summary", summary_bytes(summary))
        return Changes(self.writer.commit(), **self.counts, skills=len(loaded))


def _slim(entry: Entry) -> Entry:
    """Return the entry with a skill that has its facts and no content."""
    if entry.skill is None:
        return entry
    return entry._replace(skill=Facts.of(entry.skill).stand_in(entry.candidate.path))


def _flags(facts: Facts | None, shadowed: bool) -> int:
    if facts is None:
        return 0
    out = shadowed or facts.hidden or facts.origin == Origin.CONVENTION
    return EXCLUDED if out else 0
