"""The record of a document: where its file is, and the card of its skill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skillyard.index.card import SkillCard
from skillyard.skill import SKILL_FIELDS, Reference, Skill

if TYPE_CHECKING:
    from skillyard.discovery import Candidate
    from skillyard.index.path_mapping import PathMapping
    from skillyard.limits import Limits

__all__ = [
    "candidate_key",
    "decode_candidate",
    "decode_card",
    "encode_candidate",
    "encode_record",
]

CARD = tuple(each.name for each in SKILL_FIELDS.values() if each.card)
"""What an answer shows of a skill; the rest is read from its file, see :mod:`.card`."""
_LISTS = tuple(name for name in CARD if isinstance(SKILL_FIELDS[name].default, tuple))


def candidate_key(candidate: Candidate) -> str:
    """Return a document's key: the number of its root and the path below it."""
    return "/".join((str(candidate.root), *candidate.parts))


def encode_record(candidate: Candidate, skill: Skill) -> bytes:
    """Return a document's record."""
    card = {name: getattr(skill, name) for name in CARD}
    shape = [card, encode_candidate(candidate)]
    return json.dumps(shape, separators=(",", ":")).encode("ascii")


def decode_card(record: bytes, spelling: PathMapping, limits: Limits) -> SkillCard:
    """Return the skill of a record; the rest of it loads on demand. Raises ValueError, TypeError.

    ``spelling`` says how the roots are named for who reads it.
    """
    card, (path, parts, _, _, _, _, root, references, _) = json.loads(record)
    for name in _LISTS:
        card[name] = tuple(card[name])
    card["references"] = tuple(Reference(*reference) for reference in references)
    card["path"] = spelling.path(path, parts, root)
    return SkillCard(card, limits)


def encode_candidate(candidate: Candidate) -> list[Any]:
    """Return the candidate as JSON keeps it."""
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


def decode_candidate(value: Sequence[Any]) -> Candidate:
    """Return the candidate of a record's JSON value."""
    from skillyard.discovery import Candidate, Stamp

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
