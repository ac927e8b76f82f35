"""The record of a document: the card of its skill and the location of its file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skillyard.engine.index.card import SkillCard
from skillyard.engine.skill import SKILL_FIELDS, Reference, Skill

if TYPE_CHECKING:
    from skillyard.base.limits import Limits
    from skillyard.engine.discovery import Candidate
    from skillyard.engine.index.path_mapping import PathMapping

CARD = tuple(each.name for each in SKILL_FIELDS.values() if each.card)
"""The fields stored in the record; the others are read from the file (:mod:`.card`)."""
_LISTS = tuple(name for name in CARD if isinstance(SKILL_FIELDS[name].default, tuple))


def candidate_key(candidate: Candidate) -> str:
    """Return the key of a document: the number of its root and the path below it."""
    return "/".join((str(candidate.root), *candidate.parts))


def encode_record(candidate: Candidate, skill: Skill) -> bytes:
    """Return the record of a skill as JSON bytes."""
    card = {name: getattr(skill, name) for name in CARD}
    shape = [card, encode_candidate(candidate)]
    return json.dumps(shape, separators=(",", ":")).encode("ascii")


def decode_card(record: bytes, path_mapping: PathMapping, limits: Limits) -> SkillCard:
    """Return the skill of a record; its other fields load on demand.

    ``path_mapping`` maps the path to the caller's spelling of the roots. A damaged record raises
    ValueError, TypeError or KeyError.
    """
    card, (path, parts, _, _, _, _, root, references, _, _) = json.loads(record)
    for name in _LISTS:
        card[name] = tuple(card[name])
    card["references"] = tuple(Reference(*reference) for reference in references)
    card["path"] = path_mapping.path(path, parts, root)
    return SkillCard(card, limits)


def encode_candidate(candidate: Candidate) -> list[Any]:
    """Return the fields of a candidate as a JSON list."""
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
        candidate.plugin,
    ]


def decode_candidate(value: Sequence[Any]) -> Candidate:
    """Return the candidate of a JSON list."""
    from skillyard.engine.discovery import Candidate, Stamp

    path, parts, origin, folder, stamp, scope, root, references, target, plugin = value
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
        plugin,
    )
