"""Keeping an index: making it, and making it say what the files say."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from skillyard.catalog.collisions import settle_names
from skillyard.catalog.copies import copies_by_path
from skillyard.catalog.counts import SkillCounts, count_skills
from skillyard.catalog.reading import Entry, Progress, read_one
from skillyard.errors import IndexDamaged
from skillyard.index.building import document_of
from skillyard.index.document import EXCLUDED
from skillyard.index.opening import open_index
from skillyard.index.place import Place, fingerprint, settings, table_of
from skillyard.index.reader import SegmentSearcher
from skillyard.index.records import key_of_candidate, record_of
from skillyard.index.state import Facts, Known, State, entry_of, load_state, state_bytes
from skillyard.index.summary import Summary, summary_bytes
from skillyard.index.table import Table, bundled
from skillyard.index.writer import IndexWriter
from skillyard.reported import Reported
from skillyard.skill import Origin, Skill

__all__ = ["Changes", "build", "refresh"]

WAIT_S = 30.0
"""Seconds to wait for another process that is bringing the same index up to date."""


class Changes(NamedTuple):
    """What bringing an index up to date did."""

    generation: int
    added: int
    changed: int
    removed: int
    skills: int


def state_of(searcher: SegmentSearcher) -> State | None:
    """Return what the index remembers of the files, or None when that is lost."""
    try:
        data = searcher.side_file("state")
        return None if data is None else load_state(data)
    except (IndexDamaged, ValueError):
        return None


def build(
    place: Place, folder: str, *, adapt: bool = False, progress: Progress | None = None
) -> Changes:
    """Make the index anew from the files. Raises SkillIoError, InvalidSkillsRoot.

    ``adapt`` gives the words that the bundled table does not know a direction of their own; the
    index keeps that table for as long as it is only brought up to date.
    """
    table = _adapted(place) if adapt else bundled()
    return _bring(place, folder, table, progress, fresh=True)


def refresh(place: Place, folder: str, *, progress: Progress | None = None) -> Changes:
    """Bring the index up to date with the files: only what changed is read."""
    try:
        searcher = open_index(folder)
        table = bundled() if searcher is None else table_of(searcher)
    except IndexDamaged:
        table = bundled()
    return _bring(place, folder, table, progress, fresh=False)


def _adapted(place: Place) -> Table:
    from skillyard.index.adapting import adapted

    def skills() -> Iterator[Skill]:
        for candidate in place.scan().candidates:
            skill = read_one(candidate, place.limits, time.time_ns()).skill
            if skill is not None:
                yield skill

    return adapted(bundled(), skills())


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
        if fresh and table.id != bundled().id:
            writer.side_file("table", bytes(table.data))
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
        known_now = self._write(entries, read, {skill.path for skill in shadowed}, progress)
        self._remove(entries)
        diagnostics = [d for entry in entries.values() for d in entry.diagnostics]
        diagnostics += [*found.diagnostics, *collisions]
        diagnostics.sort(key=lambda d: (d.path, d.line or 0, d.column or 0, d.code, d.message))
        state = State(known_now, found.diagnostics)
        skills = (entry.skill for entry in entries.values() if entry.skill is not None)
        counts = count_skills(skills, shadowed)
        return self._commit(state, Reported(diagnostics), shadowed, counts, fingerprint(found))

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
            same = before is not None and (before.candidate, before.facts, before.flags) == (
                entry.candidate,
                facts,
                flags,
            )
            # A young file is read again though its stamp is the same: its content decides.
            if not same and (path in read or before is None or before.flags != flags):
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
            skill, self.table, excluded=bool(flags), record=record_of(entry.candidate, skill)
        )
        self.writer.add(document._replace(key=key))
        self.counts["added" if is_new else "changed"] += 1

    def _remove(self, entries: dict[str, Entry]) -> None:
        for path, known in self.before.items():
            if path not in entries:
                self.counts["removed"] += self.writer.delete(key_of_candidate(known.candidate))

    def _commit(
        self,
        state: State,
        reported: Reported,
        shadowed: dict[Skill, Skill],
        counts: SkillCounts,
        seen: str,
    ) -> Changes:
        loaded = {path: known for path, known in state.known.items() if known.facts is not None}
        out = {skill.path for skill in shadowed}
        copies = {
            path: tuple(key_of_candidate(loaded[copy.path].candidate) for copy in copies)
            for path, copies in copies_by_path(shadowed).items()
        }
        patterns = {
            key_of_candidate(known.candidate): known.facts.files
            for known in loaded.values()
            if known.facts is not None and known.facts.files and not known.flags
        }
        summary = Summary(
            len(loaded),
            reported,
            tuple(
                key_of_candidate(known.candidate)
                for path, known in loaded.items()
                if known.facts is not None and known.facts.hidden and path not in out
            ),
            patterns,
            seen,
            all(known.settled for known in state.known.values()),
            counts,
            copies,
        )
        self.writer.side_file("state", state_bytes(state))
        self.writer.side_file("summary", summary_bytes(summary))
        return Changes(self.writer.commit(), **self.counts, skills=counts.skills)


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
