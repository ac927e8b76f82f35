"""What is stored of the indexed files: their records, and their state, which shows changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.engine.catalog.entries import CatalogEntry
from skillyard.engine.discovery import Candidate, Stamp
from skillyard.engine.index.library import CARD
from skillyard.engine.skill import Reference, Skill, Triggers


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
        return Skill(
            self.name,
            "",
            None,
            path,
            id=path,
            slug=self.slug,
            origin=self.origin,
            trigger=self.hidden,
            triggers=Triggers(files=self.files),
            hash=self.hash,
        )


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
            file = Candidate(*candidate)
            file = file._replace(
                parts=tuple(file.parts),
                stamp=Stamp(*file.stamp),
                references=tuple(Reference(*each) for each in file.references),
            )
            skill = None if facts is None else SkillFacts(*facts)
            if skill is not None:
                skill = skill._replace(files=tuple(skill.files))
            remarks = tuple(Diagnostic(*fields) for fields in diagnostics)
            known[file.path] = FileState(file, skill, remarks, is_final, flags)
        seen = tuple(Diagnostic(*fields) for fields in scanned)
        return LibraryState(known, seen, bool(finished), dict(compared))
    except TypeError as error:
        raise ValueError(f"not a state: {error}") from None


def placeholder_entry(known: FileState) -> CatalogEntry:
    """Return the file as a catalog entry with a placeholder skill."""
    skill = None if known.facts is None else known.facts.placeholder(known.candidate.path)
    return CatalogEntry(known.candidate, skill, known.diagnostics, known.is_final)


def candidate_key(candidate: Candidate) -> str:
    """Return the key of a document: the number of its root and the path below it."""
    return "/".join((str(candidate.root), *candidate.parts))


def encode_record(candidate: Candidate, skill: Skill) -> bytes:
    """Return the record of a skill as JSON bytes: its card, its root and the path below it."""
    card = {name: getattr(skill, name) for name in CARD}
    shape = [card, candidate.root, "/".join(candidate.parts), candidate.references]
    return json.dumps(shape, separators=(",", ":")).encode("ascii")
