"""The record of a document: the card of its skill and the location of its file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillyard.base.arguments import set_field
from skillyard.engine.skill import SKILL_FIELDS, Reference, Skill

if TYPE_CHECKING:
    from skillyard.base.limits import Limits
    from skillyard.engine.discovery import Candidate

CARD = tuple(each.name for each in SKILL_FIELDS.values() if each.card)
"""The fields stored in the record; the others are read from the file."""
_LISTS = tuple(name for name in CARD if isinstance(SKILL_FIELDS[name].default, tuple))


def candidate_key(candidate: Candidate) -> str:
    """Return the key of a document: the number of its root and the path below it."""
    return "/".join((str(candidate.root), *candidate.parts))


def encode_record(candidate: Candidate, skill: Skill) -> bytes:
    """Return the record of a skill as JSON bytes: its card, its root and the path below it."""
    card = {name: getattr(skill, name) for name in CARD}
    references = _encode_references(candidate)
    shape = [card, candidate.root, "/".join(candidate.parts), references]
    return json.dumps(shape, separators=(",", ":")).encode("ascii")


def decode_card(record: bytes, prefixes: Sequence[str], limits: Limits) -> SkillCard:
    """Return the skill of a record; its other fields load on demand.

    ``prefixes`` are those of the paths below each root. A damaged record raises ValueError,
    TypeError, KeyError or IndexError.
    """
    card, root, below, references = json.loads(record)
    for name in _LISTS:
        card[name] = tuple(card[name])
    card["references"] = tuple(Reference(*reference) for reference in references)
    card["path"] = prefixes[root] + below
    return SkillCard(card, limits)


def path_prefix(root: str) -> str:
    """Return what the paths below a root begin with; see ``discovery.walk``."""
    path = root.replace(os.sep, "/")
    return "" if path == "." else f"{path.rstrip('/')}/"


class SkillCard(Skill):
    """A skill that reads its file when a field beyond the card is accessed for the first time.

    It equals the skill that loading the file returns. When the file has changed since it was
    indexed, the loaded fields are the current ones and the card stays as indexed. Accessing a field
    raises SkillError when the file is gone or is no longer a valid skill.
    """

    __slots__ = ("_limits",)

    def __init__(self, card: Mapping[str, Any], limits: Limits) -> None:
        """Take the values of the card's fields, and the limits for reading the file."""
        for name, value in card.items():
            set_field(self, name, value)
        set_field(self, "_limits", limits)

    def __getattr__(self, name: str) -> Any:
        # Called for empty slots only: the fields that are not on the card.
        if name not in SKILL_FIELDS:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        from skillyard.engine.catalog.entries import refresh  # deferred: loads the file readers

        self.fill(refresh(self, self._limits))
        return object.__getattribute__(self, name)

    def fill(self, read: Skill) -> None:
        """Set the fields that are not on the card from the loaded skill."""
        for name in SKILL_FIELDS:
            try:
                object.__getattribute__(self, name)
            except AttributeError:
                set_field(self, name, getattr(read, name))


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
        _encode_references(candidate),
        candidate.target,
        candidate.plugin,
    ]


def _encode_references(candidate: Candidate) -> list[list[str | None]]:
    return [[r.name, r.path, r.content] for r in candidate.references]


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
