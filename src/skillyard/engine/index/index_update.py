"""Building an index from the files of a library, and updating it when they change.

The **state** of the indexed files, which shows changes, is stored with the index.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from skillyard.base.errors import Diagnostic, IndexDamaged
from skillyard.engine.catalog.collisions import (
    Collisions,
    TextComparison,
    places_by_path,
    resolve_collisions,
)
from skillyard.engine.catalog.counts import count_skills
from skillyard.engine.catalog.entries import CatalogEntry, Progress, read_one
from skillyard.engine.catalog.roots import LibrarySpec, all_roots
from skillyard.engine.discovery.layout import Candidate, Scan
from skillyard.engine.index.document_builder import build_document
from skillyard.engine.index.index_writer import IndexWriter
from skillyard.engine.index.library import CARD, path_prefix
from skillyard.engine.index.library_spec import (
    OF_FILES,
    WALK,
    LibrarySummary,
    decode_candidate,
    encode_diagnostics,
    encode_summary,
    encode_walk,
    index_settings,
    scan_fingerprint,
)
from skillyard.engine.index.segment_reader import EXCLUDED
from skillyard.engine.index.segment_searcher import open_index
from skillyard.engine.index.token_table import bundled_table
from skillyard.engine.skill import Origin, Skill, Triggers

WAIT_S = 30.0
"""Seconds to wait for another process that is updating the same index."""
MIN_COMMIT_FILES = 1_024
"""Files read before the first commit. Later commits follow when the number of files doubled."""
LARGE_COMMIT_FILES = 4_096
"""Files of one commit above which the next commit waits for a quarter of the files known: a
commit itself takes time."""


class IndexChanges(NamedTuple):
    """What an update changed, in numbers of skills."""

    generation: int
    added: int
    changed: int
    removed: int
    skills: int


class SkillFacts(NamedTuple):
    """The properties of a skill that decide name collisions, without reading its file."""

    name: str
    slug: str
    origin: str | None
    hidden: bool
    files: tuple[str, ...]
    """File patterns."""
    hash: str
    """SHA-256 of the whole content in hexadecimal."""
    requires: bool
    """Whether it requires anything."""

    @classmethod
    def of(cls, skill: Skill) -> SkillFacts:
        """Return the facts of a skill."""
        files, requires = skill.triggers.files, bool(skill.requires)
        return cls(skill.name, skill.slug, skill.origin, skill.hidden, files, skill.hash, requires)

    def placeholder(self, path: str) -> Skill:
        """Return a skill with these properties and without content."""
        own: dict[str, Any] = {"slug": self.slug, "origin": self.origin, "hash": self.hash}
        files = Triggers(files=self.files)
        return Skill(self.name, "", None, path, id=path, trigger=self.hidden, triggers=files, **own)


class FileState(NamedTuple):
    """One file as it was when it was indexed."""

    candidate: Candidate
    facts: SkillFacts | None
    """None when the file failed to load."""
    diagnostics: tuple[Diagnostic, ...]
    is_final: bool
    flags: int
    """The flags of its document."""


class LibraryState(NamedTuple):
    """All files of a library, and the diagnostics of the scan."""

    files: dict[str, FileState]
    """By path."""
    scanned: tuple[Diagnostic, ...]
    finished: bool
    """False while some files are not indexed in their current state."""
    compared: Mapping[str, bool] = {}
    """Which texts of one name are nearly equal; see :mod:`skillyard.engine.catalog.collisions`."""


def encode_state(state: LibraryState) -> bytes:
    """Return the state as bytes (JSON); named tuples become lists."""
    shape = [tuple(state.files.values()), *state[1:3], dict(state.compared)]
    return json.dumps(shape, separators=(",", ":")).encode("ascii")


def decode_state(data: bytes) -> LibraryState:
    """Return the state of :func:`encode_state`. Raises ValueError for anything else."""
    try:
        files, scanned, finished, compared = json.loads(data)
        known = {}
        for candidate, facts, diagnostics, is_final, flags in files:
            file = decode_candidate(candidate)
            skill = None if facts is None else SkillFacts(*facts)
            if skill is not None:
                skill = skill._replace(files=tuple(skill.files))
            remarks = tuple(Diagnostic(*fields) for fields in diagnostics)
            known[file.path] = FileState(file, skill, remarks, is_final, flags)
        seen = tuple(Diagnostic(*fields) for fields in scanned)
        return LibraryState(known, seen, bool(finished), dict(compared))
    except TypeError as error:
        raise ValueError(f"not a state: {error}") from None


def candidate_key(candidate: Candidate) -> str:
    """Return the key of a document: the number of its root and the path below it."""
    return "/".join((str(candidate.root), *candidate.parts))


def encode_record(candidate: Candidate, skill: Skill) -> bytes:
    """Return the record of a skill as JSON bytes: its card, its root and the path below it."""
    card = {name: getattr(skill, name) for name in CARD}
    shape = [card, candidate.root, "/".join(candidate.parts), candidate.references]
    return json.dumps(shape, separators=(",", ":")).encode("ascii")


def build_index(
    spec: LibrarySpec, folder: str, *, progress: Progress | None = None
) -> IndexChanges:
    """Build the index in ``folder`` from the files of the library.

    An unfinished build is continued. ``progress`` is called with (files done, files in all). Raises
    SkillIoError, InvalidSkillsRoot.
    """
    state = _read_folder_state(folder)
    return _update(spec, folder, progress, WAIT_S, fresh=state is None or state.finished)


def refresh_index(
    spec: LibrarySpec, folder: str, *, progress: Progress | None = None, wait_s: float = WAIT_S
) -> IndexChanges:
    """Update the index in ``folder``. Only files that changed are read.

    Raises InvalidSkillsRoot, and SkillIoError; its code is ``index_busy`` when another process
    still writes the index after ``wait_s`` seconds.
    """
    return _update(spec, folder, progress, wait_s, fresh=False)


def _update(
    spec: LibrarySpec, folder: str, progress: Progress | None, wait_s: float, *, fresh: bool
) -> IndexChanges:
    scan = spec.scan_resolved()
    with IndexWriter(
        folder,
        dimensions=bundled_table().dimensions,
        settings=index_settings(**OF_FILES),
        wait_s=wait_s,
        fresh=fresh,
    ) as writer:
        before = _read_folder_state(folder)
        state = None if fresh else before
        if state is None:
            for key in list(writer.keys()):
                writer.delete(key)
            state = LibraryState({}, (), finished=False)
        # A finished index keeps answering until the new one is complete.
        in_parts = not (fresh and before is not None and before.finished)
        return _IndexUpdate(spec, scan, writer, state, in_parts).run(progress)


def _read_folder_state(folder: str) -> LibraryState | None:
    """Return the state of the files when the index was written, or None when it is unreadable."""
    try:
        searcher = open_index(folder)
        if searcher is None or searcher.settings != index_settings(**OF_FILES):
            return None
        data = searcher.side_file("state")
        return None if data is None else decode_state(data)
    except (IndexDamaged, ValueError):
        return None


class _IndexUpdate:
    """One pass that brings an index up to date with the files."""

    def __init__(
        self,
        spec: LibrarySpec,
        scan: Scan,
        writer: IndexWriter,
        before: LibraryState,
        in_parts: bool,
    ) -> None:
        self.spec = spec
        self.scan = scan
        self.writer = writer
        self.before = before.files
        self._compared = before.compared
        self.in_parts = in_parts
        self.files: dict[str, FileState] = {}
        """The files processed so far, by path."""
        self._entries: dict[str, CatalogEntry] = {}
        """Entries of earlier commits of this pass, by path."""
        self.added: set[str] = set()
        self.changed: set[str] = set()
        self.removed = 0

    def run(self, progress: Progress | None) -> IndexChanges:
        """Read the files that changed, write their documents and commit.

        A long run commits several times, so that little work is lost when it is interrupted.
        """
        candidates = self.scan.candidates
        self._remove_outdated({each.path: candidate_key(each) for each in candidates})
        now = time.time_ns()
        uncommitted = 0
        due = MIN_COMMIT_FILES
        try:
            for number, candidate in enumerate(candidates):
                if progress is not None and number % 64 == 0:
                    progress(number, len(candidates))
                uncommitted += self._update_file(candidate, now)
                if uncommitted >= due and self.in_parts:
                    self._commit(finished=False)
                    uncommitted = 0
                    due = _next_commit_size(len(self.files))
        except (KeyboardInterrupt, SystemExit):
            if uncommitted and self.in_parts:
                self._commit(finished=False)
            raise
        if progress is not None:
            progress(len(candidates), len(candidates))
        return self._commit(finished=True)

    def _update_file(self, candidate: Candidate, now: int) -> bool:
        """Bring the document of one file up to date. Returns True when the file was read."""
        before = self.before.get(candidate.path)
        if before is not None and before.is_final and before.candidate == candidate:
            self.files[candidate.path] = before
            return False
        entry = read_one(candidate, self.spec, now)
        facts = None if entry.skill is None else SkillFacts.of(entry.skill)
        flags = _flags(facts, shadowed=before is not None and bool(before.flags))
        self.files[candidate.path] = FileState(
            candidate, facts, entry.diagnostics, entry.is_stable, flags
        )
        # The stamp of a recently written file may not show a change, so its content is compared.
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
        document = build_document(skill, bundled_table(), excluded=bool(flags), record=record)
        self.writer.add(document._replace(key=key))
        before = self.before.get(path)
        (self.added if before is None or before.facts is None else self.changed).add(path)

    def _remove_outdated(self, keys: Mapping[str, str]) -> None:
        """Delete the documents of files that are gone, or whose root has another number now.

        The latter are read as new ones: their old key may be that of another file by now.
        """
        for path, file in [*self.before.items()]:
            key = candidate_key(file.candidate)
            if keys.get(path) != key:
                deleted = self.writer.delete(key)
                self.removed += 0 if path in keys else deleted
                del self.before[path]

    def _resolve_names(self) -> tuple[dict[str, FileState], list[Skill], Collisions]:
        """Decide name collisions, and rewrite the documents whose visibility changes by it.

        Returns all known files by path, in scan order, and a placeholder of each skill that loaded.
        """
        paths = [candidate.path for candidate in self.scan.candidates]
        files = {
            path: file
            for path in paths
            if (file := self.files.get(path) or self.before.get(path)) is not None
        }
        entries = [self._entry(path, file) for path, file in files.items()]
        comparison = TextComparison(self._text, self._compared)
        collisions = resolve_collisions(entries, comparison)
        self._compared = comparison.results
        losers = {skill.path for skill in collisions.shadowed}
        for path, file in files.items():
            flags = _flags(file.facts, shadowed=path in losers)
            if flags != file.flags:
                files[path] = file._replace(flags=flags)
                (self.files if path in self.files else self.before)[path] = files[path]
                read = read_one(file.candidate, self.spec, time.time_ns())
                self._write_document(file.candidate, read.skill, flags)
        return files, [each.skill for each in entries if each.skill is not None], collisions

    def _text(self, entry: CatalogEntry) -> str:
        skill = read_one(entry.candidate, self.spec, time.time_ns()).skill
        return (skill and skill.body) or ""

    def _entry(self, path: str, file: FileState) -> CatalogEntry:
        entry = self._entries.get(path)
        if entry is None or entry.candidate is not file.candidate:
            skill = None if file.facts is None else file.facts.placeholder(path)
            entry = CatalogEntry(file.candidate, skill, file.diagnostics, file.is_final)
            self._entries[path] = entry
        return entry

    def _commit(self, *, finished: bool) -> IndexChanges:
        files, skills, collisions = self._resolve_names()
        summary = self._summary(files, skills, collisions, finished=finished)
        state = LibraryState(files, self.scan.diagnostics, finished, self._compared)
        self.writer.side_file("state", encode_state(state))
        self.writer.side_file("summary", encode_summary(summary))
        walk = encode_walk(self.scan, summary.fingerprint, self.writer.folder) if finished else b""
        self.writer.side_file(WALK, walk)
        generation = self.writer.commit()
        changed = len(self.changed - self.added)
        return IndexChanges(
            generation, len(self.added), changed, self.removed, summary.counts.skills
        )

    def _summary(
        self,
        files: dict[str, FileState],
        skills: list[Skill],
        collisions: Collisions,
        *,
        finished: bool,
    ) -> LibrarySummary:
        diagnostics = [d for file in files.values() for d in file.diagnostics]
        diagnostics += [*self.scan.diagnostics, *collisions.diagnostics]
        diagnostics.sort(key=lambda d: (d.path, d.line or 0, d.column or 0, d.code, d.message))
        loaded = {path: file.facts for path, file in files.items() if file.facts is not None}
        keys = {path: candidate_key(files[path].candidate) for path in loaded}
        shadowed, further, _ = collisions
        real = self.spec.resolve()
        roots = all_roots(real.roots, real.scopes, real.folder)
        prefixes = tuple(path_prefix(root.path) for root in roots)
        losers = {skill.path for skill in shadowed}
        return LibrarySummary(
            documents=len(loaded),
            reported=encode_diagnostics(diagnostics, prefixes[: len(real.roots)]),
            prefixes=prefixes,
            hidden=tuple(
                keys[path] for path, facts in loaded.items() if facts.hidden and path not in losers
            ),
            patterns={
                keys[path]: facts.files
                for path, facts in loaded.items()
                if facts.files and not files[path].flags
            },
            fingerprint=scan_fingerprint(self.scan) if finished else "",
            is_final=finished and all(file.is_final for file in files.values()),
            counts=count_skills(skills, shadowed, further, lambda _: ""),
            requiring=tuple(
                keys[path]
                for path, facts in loaded.items()
                if facts.requires and not files[path].flags
            ),
            variants={
                keys[path]: tuple(keys[place.path] for place in places)
                for path, places in places_by_path(shadowed, further).items()
            },
            files=len(self.scan.candidates),
            known=len(files),
        )


def _next_commit_size(known: int) -> int:
    """Return how many files to read before the next commit; an interruption loses at most these."""
    return max(MIN_COMMIT_FILES, min(known, LARGE_COMMIT_FILES), known // 4)


def _flags(facts: SkillFacts | None, *, shadowed: bool) -> int:
    if facts is None:
        return 0
    out = shadowed or facts.hidden or facts.origin == Origin.CONVENTION
    return EXCLUDED if out else 0
