"""The results of the pattern matcher, the keyword detector and the confidence scorer.

Source: "Skill Evaluation System", the API sections. Fields are in snake case; ``to_dict()`` gives
the documented camelCase.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from skillyard.base.errors import InvalidInput
from skillyard.engine.skill import Skill


def camel(name: str) -> str:
    """Return the documented spelling of a name."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _documented(record: Any) -> dict[str, object]:
    """Return the documented JSON shape of a record; what is None has no key."""
    shape: dict[str, object] = {}
    for name, value in record._asdict().items():
        if value is not None:
            if isinstance(value, tuple):
                value = (
                    value.to_dict() if hasattr(value, "to_dict") else list(map(_documented, value))
                )
            shape[camel(name)] = value
    return shape


class MatchedPattern(NamedTuple):
    """The heaviest pattern of a skill that matches one file."""

    pattern: str
    matched_file: str
    weight: float

    def to_dict(self) -> dict[str, object]:
        """Return the documented JSON shape."""
        return _documented(self)


class PatternMatch(NamedTuple):
    """A skill whose file patterns match; ``confidence`` is the pattern score, 0..1."""

    skill_name: str
    confidence: float
    matched_patterns: tuple[MatchedPattern, ...]
    """One for each matched file, in the order of the files."""

    def to_dict(self) -> dict[str, object]:
        """Return the documented JSON shape."""
        return _documented(self)


class MatchedKeyword(NamedTuple):
    """A word of the text that occurs in a skill's metadata."""

    keyword: str
    """The word as in the text, in lower case."""
    matched_from: str
    """The best source that contains it: ``name``, ``keywords``, ``tags`` or ``description``."""
    weight: float
    """The source's weight times the squared rarity of the word among the skills."""
    term_frequency: int
    """Number of occurrences in the text, all forms of the word together."""

    def to_dict(self) -> dict[str, object]:
        """Return the documented JSON shape."""
        return _documented(self)


class KeywordMatch(NamedTuple):
    """A skill that shares words with the text. ``confidence`` is the keyword score, 0..1."""

    skill_name: str
    confidence: float
    matched_keywords: tuple[MatchedKeyword, ...]
    """Best source first, then in the order of the text."""

    def to_dict(self) -> dict[str, object]:
        """Return the documented JSON shape."""
        return _documented(self)


class Evaluation(NamedTuple):
    """One recommended skill."""

    skill_name: str
    confidence: float
    """0..1, not rounded."""
    level: str
    """``high``, ``medium`` or ``low``, by the unrounded confidence."""
    reason: str
    pattern_match: PatternMatch | None = None
    keyword_match: KeywordMatch | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the documented JSON shape. An absent signal has no key."""
        return _documented(self)

    def summary(self) -> dict[str, object]:
        """Return the four fields of the documented tool answer."""
        return _documented(self._replace(pattern_match=None, keyword_match=None))


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
