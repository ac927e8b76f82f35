"""What an index remembers of the files that it was made from: enough to see what changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from skillyard.catalog.reading import Entry
from skillyard.discovery import Candidate, Stamp
from skillyard.errors import Diagnostic
from skillyard.skill import Reference, Skill, Triggers

__all__ = [
    "Facts",
    "Known",
    "State",
    "Summary",
    "candidate_of",
    "entry_of",
    "key_of_candidate",
    "load_state",
    "load_summary",
    "record_of",
    "state_bytes",
    "summary_bytes",
]


class Facts(NamedTuple):
    """What the names of other skills decide on, without reading the file again."""

    name: str
    slug: str
    origin: str | None
    hidden: bool
    files: tuple[str, ...]
    """File patterns."""

    @classmethod
    def of(cls, skill: Skill) -> Facts:
        """Return the facts of a skill."""
        return cls(skill.name, skill.slug, skill.origin, skill.hidden, skill.triggers.files)

    def stand_in(self, path: str) -> Skill:
        """Return a skill that has these facts and no content."""
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
            hash="0" * 64,
        )


class Known(NamedTuple):
    """One file as it was when it was read."""

    candidate: Candidate
    facts: Facts | None
    """None when it did not load."""
    diagnostics: tuple[Diagnostic, ...]
    settled: bool
    flags: int
    """The flags of its document."""


class State(NamedTuple):
    """All files of a library, and what the walk itself had to say."""

    known: dict[str, Known]
    """By path."""
    scanned: tuple[Diagnostic, ...]


class Summary(NamedTuple):
    """What every answer needs of the library beside the index itself."""

    skills: int
    diagnostics: tuple[Diagnostic, ...]
    hidden: tuple[str, ...]
    """Keys of skills that only an explicit call chooses."""
    patterns: dict[str, tuple[str, ...]]
    """File patterns by key."""


def key_of_candidate(candidate: Candidate) -> str:
    """Return a document's key: the number of its root and the path below it."""
    return "/".join((str(candidate.root), *candidate.parts))


def record_of(candidate: Candidate) -> bytes:
    """Return a document's record: where its file is and how to read it."""
    return json.dumps(_candidate(candidate), separators=(",", ":")).encode("ascii")


def _candidate(candidate: Candidate) -> list[Any]:
    return [
        candidate.path,
        list(candidate.parts),
        candidate.origin,
        candidate.folder,
        list(candidate.stamp),
        candidate.scope,
        candidate.root,
        [[r.name, r.path, r.content] for r in candidate.references],
        candidate.target,
    ]


def candidate_of(value: Sequence[Any]) -> Candidate:
    """Return the candidate of a record's JSON value."""
    path, parts, origin, folder, stamp, scope, root, references, target = value
    return Candidate(
        path,
        tuple(parts),
        origin,
        folder,
        Stamp(*stamp),
        scope,
        root,
        tuple(Reference(*reference) for reference in references),
        target,
    )


def state_bytes(state: State) -> bytes:
    """Return the state as it is kept."""
    shape = {
        "known": [
            [_candidate(k.candidate), k.facts, [list(d) for d in k.diagnostics], k.settled, k.flags]
            for k in state.known.values()
        ],
        "scanned": [list(d) for d in state.scanned],
    }
    return json.dumps(shape, separators=(",", ":")).encode("ascii")


def load_state(data: bytes) -> State:
    """Return the state of :func:`state_bytes`. Raises ValueError for anything else."""
    try:
        shape = json.loads(data)
        known = {}
        for candidate, facts, diagnostics, settled, flags in shape["known"]:
            found = candidate_of(candidate)
            known[found.path] = Known(
                found,
                None if facts is None else _facts(*facts),
                _diagnostics(diagnostics),
                settled,
                flags,
            )
        return State(known, _diagnostics(shape["scanned"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a state: {error}") from None


def _facts(name: str, slug: str, origin: str | None, hidden: bool, files: Iterable[str]) -> Facts:
    return Facts(name, slug, origin, hidden, tuple(files))


def _diagnostics(listed: Iterable[Sequence[Any]]) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(*fields) for fields in listed)


def summary_bytes(summary: Summary) -> bytes:
    """Return the summary as it is kept."""
    shape = {
        "skills": summary.skills,
        "diagnostics": [list(d) for d in summary.diagnostics],
        "hidden": summary.hidden,
        "patterns": summary.patterns,
    }
    return json.dumps(shape, separators=(",", ":")).encode("ascii")


def load_summary(data: bytes) -> Summary:
    """Return the summary of :func:`summary_bytes`. Raises ValueError for anything else."""
    try:
        shape = json.loads(data)
        patterns = {key: tuple(listed) for key, listed in shape["patterns"].items()}
        return Summary(
            shape["skills"], _diagnostics(shape["diagnostics"]), tuple(shape["hidden"]), patterns
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a summary: {error}") from None


def entry_of(known: Known) -> Entry:
    """Return the file as an entry whose skill is a stand-in."""
    skill = None if known.facts is None else known.facts.stand_in(known.candidate.path)
    return Entry(known.candidate, skill, known.diagnostics, known.settled)
