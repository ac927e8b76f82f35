"""Converts the accepted forms of candidates (a catalog, skills, plain maps) to skills."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from skillyard.base.errors import InvalidInput
from skillyard.engine.skill import Skill

Candidates: TypeAlias = (
    Iterable[Skill | Mapping[str, Any]] | Mapping[str, Skill] | Mapping[str, Mapping[str, Any]]
)
"""A catalog or another iterable of skills, or a map from name to skill; a skill may be a plain
map with ``name``, ``description``, ``keywords``, ``tags`` and ``triggers`` (``files``,
``keywords``), as the "Skill Evaluation System" document writes them."""

_FIELDS = ("keywords", "tags", "triggers")


def as_skills(candidates: Candidates) -> tuple[Skill, ...]:
    """Return the skills in the given order. Raises InvalidInput for anything else."""
    if isinstance(candidates, Mapping):
        return tuple(_skill(value, str(name)) for name, value in candidates.items())
    if isinstance(candidates, str | bytes) or not isinstance(candidates, Iterable):
        kind = type(candidates).__name__
        raise InvalidInput(f"skills must be a catalog, a list or a mapping, not {kind}")
    return tuple(_skill(value, "") for value in candidates)


def _skill(value: Skill | Mapping[str, Any], name: str) -> Skill:
    if isinstance(value, Skill):
        return value
    if not isinstance(value, Mapping):
        raise InvalidInput(f"skills must hold skills or mappings, not {type(value).__name__}")
    fields = {field: value[field] for field in _FIELDS if value.get(field) is not None}
    name = value.get("name") or name
    if not name:
        raise InvalidInput("skills: an entry has no name")
    return Skill(name, value.get("description") or "", None, **fields)
