"""Keeping an index: making it, and making it say what the files say."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from skillyard.catalog.collisions import settle_names
from skillyard.catalog.copies import copies_by_path
from skillyard.catalog.counts import count_skills
from skillyard.catalog.reading import Entry, Progress, read_one
from skillyard.discovery import Candidate, Scan
from skillyard.errors import Diagnostic, IndexDamaged
from skillyard.index.document_builder import build_document
from skillyard.index.document import EXCLUDED
from skillyard.index.index_reader import open_index
from skillyard.index.library_spec import LibrarySpec, scan_fingerprint, file_index_settings, table_for
from skillyard.index.segment_searcher import SegmentSearcher
from skillyard.index.records import candidate_key, encode_record
from skillyard.index.library_state import SkillFacts, FileState, LibraryState, placeholder_entry, decode_state, encode_state
from skillyard.index.library_summary import LibrarySummary, encode_summary
from skillyard.index.token_table import TokenTable, bundled_table
from skillyard.index.index_writer import IndexWriter
from skillyard.limits import Limits
from skillyard.reported import Reported
from skillyard.skill import Origin, Skill

__all__ = ["IndexChanges", "build_index", "refresh_index"]

WAIT_S = 30.0
"""Seconds to wait for another process that is bringing the same index up to date."""
MIN_COMMIT_FILES = 1_024
"""Files that are read before the first commit of an index; then as many as it knows."""
LARGE_COMMIT_FILES = 4_096
"""Files of a part from which parts grow to a quarter of what is known: each is some work."""


class IndexChanges(NamedTuple):
    """What bringing an index up to date did."""

    generation: int
    added: int
    changed: int
    removed: int
    skills: int


def read_state(searcher: SegmentSearcher) -> LibraryState | None:
    """Return what the index remembers of the files, or None when that is lost."""
    try:
        data = searcher.side_file("state")
        return None if data is None else decode_state(data)
    except (IndexDamaged, ValueError):
        return None


def build_index(
    place: LibrarySpec, folder: str, *, adapt: bool = False, progress: Progress | None = None
) -> IndexChanges:
    """Make the index anew from the files. Raises SkillIoError, InvalidSkillsRoot.

    One that was never finished is gone on with. ``adapt`` gives the words that the bundled table
    does not know a direction of their own; the index keeps that table for as long as it is only
    brought up to date.
    """
    if adapt:
        return _update(place, folder, _adapted_table(place.real()), progress, WAIT_S, fresh=True)
    state = _read_folder_state(folder, bundled_table())
    return _update(place, folder, bundled_table(), progress, WAIT_S, fresh=state is None or state.finished)


def refresh_index(
    place: LibrarySpec, folder: str, *, progress: Progress | None = None, wait_s: float = WAIT_S
) -> IndexChanges:
    """Bring the index up to date with the files: only what changed is read.

    Raises InvalidSkillsRoot, and SkillIoError, also (``index_busy``) where another process still
    changes the index after ``wait_s`` seconds.
    """
    try:
        searcher = open_index(folder)
        table = bundled_table() if searcher is None else table_for(searcher)
    except IndexDamaged:
        table = bundled_table()
    return _update(place, folder, table, progress, wait_s, fresh=False)


def _adapted_table(place: LibrarySpec) -> TokenTable:
    from skillyard.index.table_adaptation import adapt_table

    def skills() -> Iterator[Skill]:
        for candidate in place.scan().candidates:
            skill = read_one(candidate, place.limits, time.time_ns()).skill
            if skill is not None:
                yield skill

    return adapt_table(bundled_table(), skills())


def _update(
    place: LibrarySpec,
    folder: str,
    table: TokenTable,
    progress: Progress | None,
    wait_s: float,
    *,
    fresh: bool,
) -> IndexChanges:
    files = place.look()
    with IndexWriter(
        folder, dimensions=table.dimensions, settings=file_index_settings(table), wait_s=wait_s, fresh=fresh
    ) as writer:
        before = _read_folder_state(folder, table)
        state = None if fresh else before
        if state is None:
            for key in list(writer.keys()):
                writer.delete(key)
            state = LibraryState({}, (), finished=False)
        if fresh and table.id != bundled_table().id:
            writer.side_file("table", bytes(table.data))
        # What answers now is not given up for a part of what is to come.
        in_parts = not (fresh and before is not None and before.finished)
        return _IndexUpdate(place.limits, files, writer, table, state, in_parts).run(progress)


def _read_folder_state(folder: str, table: TokenTable) -> LibraryState | None:
    try:
        searcher = open_index(folder)
    except IndexDamaged:
        return None
    if searcher is None or searcher.settings != file_index_settings(table):
        return None
    return read_state(searcher)


class _IndexUpdate:
    """One pass that makes the index say what the files say."""

    def __init__(
        self,
        limits: Limits,
        files: Scan,
        writer: IndexWriter,
        table: TokenTable,
        before: LibraryState,
        in_parts: bool,
    ) -> None:
        self.limits = limits
        self.files = files
        self.writer = writer
        self.table = table
        self.before = before.known
        self.in_parts = in_parts
        self.known: dict[str, FileState] = {}
        """Every file that the index knows by now."""
        self._entries: dict[str, Entry] = {}
        """By path, of all that was settled before."""
        self.added: set[str] = set()
        self.changed: set[str] = set()
        self.removed = 0

    def run(self, progress: Progress | None) -> IndexChanges:
        """Look at all files, read those that changed, write their documents, commit.

        In a long run the index is committed in parts, and what is done stays when it is stopped.
        """
        candidates = self.files.candidates
        self._remove_missing({candidate.path for candidate in candidates})
        now = time.time_ns()
        since = 0
        due = MIN_COMMIT_FILES
        try:
            for number, candidate in enumerate(candidates):
                if progress is not None and number % 64 == 0:
                    progress(number, len(candidates))
                since += self._update_file(candidate, now)
                if since >= due and self.in_parts:
                    self._commit(finished=False)
                    since = 0
                    due = _next_commit_size(len(self.known))
        except (KeyboardInterrupt, SystemExit):
            if since and self.in_parts:
                self._commit(finished=False)
            raise
        if progress is not None:
            progress(len(candidates), len(candidates))
        return self._commit(finished=True)

    def _update_file(self, candidate: Candidate, now: int) -> bool:
        """Bring the document of one file up to date; True when the file was read."""
        before = self.before.get(candidate.path)
        if before is not None and before.settled and before.candidate == candidate:
            self.known[candidate.path] = before
            return False
        entry = read_one(candidate, self.limits, now)
        facts = None if entry.skill is None else SkillFacts.of(entry.skill)
        flags = _flags(facts, shadowed=before is not None and bool(before.flags))
        self.known[candidate.path] = FileState(
            candidate, facts, entry.diagnostics, entry.settled, flags
        )
        # A young file is read again though its stamp is the same: its content decides.
        if before is None or (before.candidate, before.facts, before.flags) != (
            candidate,
            facts,
            flags,
        ):
            self._write_document(candidate, entry.skill, flags)
        return True

    def _write_document(self, candidate: Candidate, skill: Skill | None, flags: int) -> None:
        key, path = candidate_key(candidate), candidate.path
        if skill is None:
            self.removed += self.writer.delete(key)
            return
        record = encode_record(candidate, skill)
        document = build_document(skill, self.table, excluded=bool(flags), record=record)
        self.writer.add(document._replace(key=key))
        before = self.before.get(path)
        (self.added if before is None or before.facts is None else self.changed).add(path)

    def _remove_missing(self, paths: set[str]) -> None:
        for path, known in self.before.items():
            if path not in paths:
                self.removed += self.writer.delete(candidate_key(known.candidate))

    def _resolve_names(
        self,
    ) -> tuple[dict[str, FileState], dict[str, Skill], dict[Skill, Skill], list[Diagnostic]]:
        """Return the files in their order, their skills, who is shadowed, and what is to be said.

        Who wins over whom is known only now: the documents of the few that lose are written again.
        """
        order = [candidate.path for candidate in self.files.candidates]
        everything = {
            path: known
            for path in order
            if (known := self.known.get(path) or self.before.get(path)) is not None
        }
        entries = [self._entry(path, known) for path, known in everything.items()]
        shadowed, collisions = settle_names(entries)
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
                self._write_document(known.candidate, read.skill, flags)
        skills = {e.candidate.path: e.skill for e in entries if e.skill is not None}
        return everything, skills, shadowed, collisions

    def _entry(self, path: str, known: FileState) -> Entry:
        entry = self._entries.get(path)
        if entry is None or entry.candidate is not known.candidate:
            entry = self._entries[path] = placeholder_entry(known)
        return entry

    def _commit(self, *, finished: bool) -> IndexChanges:
        everything, skills, shadowed, collisions = self._resolve_names()
        diagnostics = [d for known in everything.values() for d in known.diagnostics]
        diagnostics += [*self.files.diagnostics, *collisions]
        diagnostics.sort(key=lambda d: (d.path, d.line or 0, d.column or 0, d.code, d.message))
        loaded = {path: known for path, known in everything.items() if known.facts is not None}
        counts = count_skills(skills.values(), shadowed)
        keys = {path: candidate_key(known.candidate) for path, known in loaded.items()}
        losers = {skill.path for skill in shadowed}
        copies = {
            keys[path]: tuple(keys[copy.path] for copy in duplicates)
            for path, duplicates in copies_by_path(shadowed).items()
        }
        patterns = {
            keys[path]: known.facts.files
            for path, known in loaded.items()
            if known.facts is not None and known.facts.files and not known.flags
        }
        summary = LibrarySummary(
            len(loaded),
            Reported(diagnostics),
            tuple(
                keys[path]
                for path, known in loaded.items()
                if known.facts is not None and known.facts.hidden and path not in losers
            ),
            patterns,
            scan_fingerprint(self.files) if finished else "",
            finished and all(known.settled for known in everything.values()),
            counts,
            copies,
            len(self.files.candidates),
            len(everything),
        )
        state = LibraryState(everything, self.files.diagnostics, finished)
        self.writer.side_file("state", encode_state(state))
        self.writer.side_file("summary", encode_summary(summary))
        generation = self.writer.commit()
        changed = self.changed - self.added
        return IndexChanges(generation, len(self.added), len(changed), self.removed, counts.skills)


def _next_commit_size(known: int) -> int:
    """Return how many files to read before the next commit: a kill loses no more than these."""
    return max(MIN_COMMIT_FILES, min(known, LARGE_COMMIT_FILES), known // 4)


def _flags(facts: SkillFacts | None, *, shadowed: bool) -> int:
    if facts is None:
        return 0
    out = shadowed or facts.hidden or facts.origin == Origin.CONVENTION
    return EXCLUDED if out else 0
