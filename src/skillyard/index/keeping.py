"""Keeping an index: making it, and making it say what the files say."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from skillyard.catalog.collisions import resolve_collisions
from skillyard.catalog.copies import copies_by_path
from skillyard.catalog.counts import count_skills
from skillyard.catalog.entries import Entry, Progress, read_one
from skillyard.discovery import Candidate, Scan
from skillyard.errors import Diagnostic, IndexDamaged
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
from skillyard.limits import Limits
from skillyard.reported import Reported
from skillyard.skill import Origin, Skill

__all__ = ["Changes", "build", "refresh"]

WAIT_S = 30.0
"""Seconds to wait for another process that is bringing the same index up to date."""
FIRST_PART = 1_024
"""Files that are read before the first commit of an index; then as many as it knows."""
LARGE_PART = 4_096
"""Files of a part from which parts grow to a quarter of what is known: each is some work."""


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

    One that was never finished is gone on with. ``adapt`` gives the words that the bundled table
    does not know a direction of their own; the index keeps that table for as long as it is only
    brought up to date.
    """
    if adapt:
        return _bring(place, folder, _adapted(place.real()), progress, WAIT_S, fresh=True)
    state = _state_in(folder, bundled())
    return _bring(place, folder, bundled(), progress, WAIT_S, fresh=state is None or state.finished)


def refresh(
    place: Place, folder: str, *, progress: Progress | None = None, wait_s: float = WAIT_S
) -> Changes:
    """Bring the index up to date with the files: only what changed is read.

    Raises InvalidSkillsRoot, and SkillIoError, also (``index_busy``) where another process still
    changes the index after ``wait_s`` seconds.
    """
    try:
        searcher = open_index(folder)
        table = bundled() if searcher is None else table_of(searcher)
    except IndexDamaged:
        table = bundled()
    return _bring(place, folder, table, progress, wait_s, fresh=False)


def _adapted(place: Place) -> Table:
    from skillyard.index.adapting import adapted

    def skills() -> Iterator[Skill]:
        for candidate in place.scan().candidates:
            skill = read_one(candidate, place.limits, time.time_ns()).skill
            if skill is not None:
                yield skill

    return adapted(bundled(), skills())


def _bring(
    place: Place,
    folder: str,
    table: Table,
    progress: Progress | None,
    wait_s: float,
    *,
    fresh: bool,
) -> Changes:
    found = place.look()
    with IndexWriter(
        folder, dimensions=table.dimensions, settings=settings(table), wait_s=wait_s, fresh=fresh
    ) as writer:
        before = _state_in(folder, table)
        state = None if fresh else before
        if state is None:
            for key in list(writer.keys()):
                writer.delete(key)
            state = State({}, (), finished=False)
        if fresh and table.id != bundled().id:
            writer.side_file("table", bytes(table.data))
        # What answers now is not given up for a part of what is to come.
        in_parts = not (fresh and before is not None and before.finished)
        return _Update(place.limits, found, writer, table, state, in_parts).run(progress)


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

    def __init__(
        self,
        limits: Limits,
        found: Scan,
        writer: IndexWriter,
        table: Table,
        before: State,
        in_parts: bool,
    ) -> None:
        self.limits = limits
        self.found = found
        self.writer = writer
        self.table = table
        self.before = before.known
        self.in_parts = in_parts
        self.known: dict[str, Known] = {}
        """Every file that the index knows by now."""
        self._entries: dict[str, Entry] = {}
        """By path, of all that was settled before."""
        self.added: set[str] = set()
        self.changed: set[str] = set()
        self.removed = 0

    def run(self, progress: Progress | None) -> Changes:
        """Look at all files, read those that changed, write their documents, commit.

        In a long run the index is committed in parts, and what is done stays when it is stopped.
        """
        candidates = self.found.candidates
        self._remove({candidate.path for candidate in candidates})
        now = time.time_ns()
        since = 0
        due = FIRST_PART
        try:
            for number, candidate in enumerate(candidates):
                if progress is not None and number % 64 == 0:
                    progress(number, len(candidates))
                since += self._take(candidate, now)
                if since >= due and self.in_parts:
                    self._commit(finished=False)
                    since = 0
                    due = _next_part(len(self.known))
        except (KeyboardInterrupt, SystemExit):
            if since and self.in_parts:
                self._commit(finished=False)
            raise
        if progress is not None:
            progress(len(candidates), len(candidates))
        return self._commit(finished=True)

    def _take(self, candidate: Candidate, now: int) -> bool:
        """Bring the document of one file up to date; True when the file was read."""
        before = self.before.get(candidate.path)
        if before is not None and before.settled and before.candidate == candidate:
            self.known[candidate.path] = before
            return False
        entry = read_one(candidate, self.limits, now)
        facts = None if entry.skill is None else Facts.of(entry.skill)
        flags = _flags(facts, shadowed=before is not None and bool(before.flags))
        self.known[candidate.path] = Known(
            candidate, facts, entry.diagnostics, entry.is_stable, flags
        )
        # A young file is read again though its stamp is the same: its content decides.
        if before is None or (before.candidate, before.facts, before.flags) != (
            candidate,
            facts,
            flags,
        ):
            self._write(candidate, entry.skill, flags)
        return True

    def _write(self, candidate: Candidate, skill: Skill | None, flags: int) -> None:
        key, path = key_of_candidate(candidate), candidate.path
        if skill is None:
            self.removed += self.writer.delete(key)
            return
        record = record_of(candidate, skill)
        document = document_of(skill, self.table, excluded=bool(flags), record=record)
        self.writer.add(document._replace(key=key))
        before = self.before.get(path)
        (self.added if before is None or before.facts is None else self.changed).add(path)

    def _remove(self, paths: set[str]) -> None:
        for path, known in self.before.items():
            if path not in paths:
                self.removed += self.writer.delete(key_of_candidate(known.candidate))

    def _settle(
        self,
    ) -> tuple[dict[str, Known], dict[str, Skill], dict[Skill, Skill], list[Diagnostic]]:
        """Return the files in their order, their skills, who is shadowed, and what is to be said.

        Who wins over whom is known only now: the documents of the few that lose are written again.
        """
        order = [candidate.path for candidate in self.found.candidates]
        everything = {
            path: known
            for path in order
            if (known := self.known.get(path) or self.before.get(path)) is not None
        }
        entries = [self._entry(path, known) for path, known in everything.items()]
        shadowed, collisions = resolve_collisions(entries)
        losers = {skill.path for skill in shadowed}
        for path, known in everything.items():
            flags = _flags(known.facts, shadowed=path in losers)
            if flags != known.flags:
                everything[path] = settled = known._replace(flags=flags)
                if path in self.known:
                    self.known[path] = settled
                else:
                    self.before[path] = settled
                read = read_one(known.candidate, self.limits, time.time_ns())
                self._write(known.candidate, read.skill, flags)
        skills = {e.candidate.path: e.skill for e in entries if e.skill is not None}
        return everything, skills, shadowed, collisions

    def _entry(self, path: str, known: Known) -> Entry:
        entry = self._entries.get(path)
        if entry is None or entry.candidate is not known.candidate:
            entry = self._entries[path] = entry_of(known)
        return entry

    def _commit(self, *, finished: bool) -> Changes:
        everything, skills, shadowed, collisions = self._settle()
        diagnostics = [d for known in everything.values() for d in known.diagnostics]
        diagnostics += [*self.found.diagnostics, *collisions]
        diagnostics.sort(key=lambda d: (d.path, d.line or 0, d.column or 0, d.code, d.message))
        loaded = {path: known for path, known in everything.items() if known.facts is not None}
        counts = count_skills(skills.values(), shadowed)
        keys = {path: key_of_candidate(known.candidate) for path, known in loaded.items()}
        losers = {skill.path for skill in shadowed}
        copies = {
            keys[path]: tuple(keys[copy.path] for copy in found)
            for path, found in copies_by_path(shadowed).items()
        }
        patterns = {
            keys[path]: known.facts.files
            for path, known in loaded.items()
            if known.facts is not None and known.facts.files and not known.flags
        }
        summary = Summary(
            len(loaded),
            Reported(diagnostics),
            tuple(
                keys[path]
                for path, known in loaded.items()
                if known.facts is not None and known.facts.hidden and path not in losers
            ),
            patterns,
            fingerprint(self.found) if finished else "",
            finished and all(known.settled for known in everything.values()),
            counts,
            copies,
            len(self.found.candidates),
            len(everything),
        )
        state = State(everything, self.found.diagnostics, finished)
        self.writer.side_file("state", state_bytes(state))
        self.writer.side_file("summary", summary_bytes(summary))
        generation = self.writer.commit()
        changed = self.changed - self.added
        return Changes(generation, len(self.added), len(changed), self.removed, counts.skills)


def _next_part(known: int) -> int:
    """Return how many files to read before the next commit: a kill loses no more than these."""
    return max(FIRST_PART, min(known, LARGE_PART), known // 4)


def _flags(facts: Facts | None, *, shadowed: bool) -> int:
    if facts is None:
        return 0
    out = shadowed or facts.hidden or facts.origin == Origin.CONVENTION
    return EXCLUDED if out else 0
