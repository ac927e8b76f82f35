"""What an index remembers of the files that it was made from: enough to see what changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from skillyard.catalog.entries import Entry
from skillyard.discovery import Candidate
from skillyard.errors import Diagnostic
from skillyard.index.records import candidate_fields, candidate_of
from skillyard.skill import Skill, Triggers

__all__ = ["Facts", "Known", "State", "entry_of", "load_state", "state_bytes"]


class Facts(NamedTuple):
    """What the names of other skills decide on, without reading the file again."""

    name: str
    slug: str
    origin: str | None
    hidden: bool
    files: tuple[str, ...]
    """File patterns."""
    hash: str
    """Of the whole content, 64 digits."""

    @classmethod
    def of(cls, skill: Skill) -> Facts:
        """Return the facts of a skill."""
        return cls(
            skill.name, skill.slug, skill.origin, skill.hidden, skill.triggers.files, skill.hash
        )

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
            hash=self.hash,
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
    finished: bool
    """False while files are left that the index has never seen or not seen changed."""


def state_bytes(state: State) -> bytes:
    """Return the state as it is kept."""
    shape = {
        "known": [
            [
                candidate_fields(k.candidate),
                k.facts,
                [list(d) for d in k.diagnostics],
                k.settled,
                k.flags,
            ]
            for k in state.known.values()
        ],
        "scanned": [list(d) for d in state.scanned],
        "finished": state.finished,
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
                _diagnostics_of(diagnostics),
                settled,
                flags,
            )
        scanned = _diagnostics_of(shape["scanned"])
        return State(known, scanned, bool(shape["finished"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a state: {error}") from None


def _facts(
    name: str, slug: str, origin: str | None, hidden: bool, files: Iterable[str], hash_: str
) -> Facts:
    return Facts(name, slug, origin, hidden, tuple(files), hash_)


def _diagnostics_of(listed: Iterable[Sequence[Any]]) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(*fields) for fields in listed)


def entry_of(known: Known) -> Entry:
    """Return the file as an entry whose skill is a stand-in."""
    skill = None if known.facts is None else known.facts.stand_in(known.candidate.path)
    return Entry(known.candidate, skill, known.diagnostics, known.settled)
