"""What a skill is, as values. No I/O here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from skillyard.errors import InvalidInput
from skillyard.text import normalised_name

__all__ = ["CONVENTION_TAG", "Origin", "Reference", "Skill", "Triggers", "document_id"]

CONVENTION_TAG = "convention"
"""The tag that every convention document (AGENTS.md and kin) carries."""


class Origin:
    """The words of ``Skill.origin``: which layout a skill was found in."""

    AGENTSKILLS = "agentskills"
    """A folder with a ``SKILL.md``."""
    RUNTIME = "runtime"
    """A Markdown file below ``.skills/``."""
    OASIS = "oasis"
    """``key_skills/*/SKILL.md`` with every field that Oasis requires."""
    CONVENTION = "convention"
    """AGENTS.md, CLAUDE.md and kin."""


class Reference(NamedTuple):
    """One document that lies beside a skill (Skyll's sense of *reference*)."""

    name: str
    path: str
    """Relative to the skill's folder, with ``/``."""
    content: str | None = None


class Triggers(NamedTuple):
    """What should make a skill fire, as its author declared it."""

    files: tuple[str, ...] = ()
    """Glob patterns over file paths."""
    keywords: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    """Oasis trigger phrases, and the entries of a plain ``triggers`` list."""


_EMPTY: Mapping[str, Any] = MappingProxyType({})


def document_id(name: str, content_hash: str) -> str:
    """Return the stable document id: normalised name, hyphen, first 12 hash characters."""
    return f"{normalised_name(name)}-{content_hash[:12]}"


@dataclass(frozen=True, slots=True, eq=False)
class Skill:
    """One skill: metadata, instructions and where they came from. Immutable.

    ``body`` is None when the content is not available (a remote pointer whose fetch failed).
    ``id``, ``slug`` and ``hash`` are derived when left None. Lists given for the tuple fields are
    copied into tuples. Two skills are equal when all their fields are. Raises InvalidInput when
    a field has the wrong type.
    """

    name: str
    description: str
    body: str | None
    path: str = ""
    id: str | None = None
    slug: str | None = None
    title: str | None = None
    version: str | None = None
    license: str | None = None
    compatibility: str | None = None
    hint: str | None = None
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    triggers: Triggers = Triggers()
    trigger: bool = False
    """True: hidden from automatic choice, reached only by ``@name`` or by name."""
    priority: int = 0
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    safety_notes: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    declared_references: tuple[str, ...] = ()
    """The frontmatter list ``references`` (adk's sense): external files that the skill needs."""
    references: tuple[Reference, ...] = ()
    """Documents found beside the skill (Skyll's sense)."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None
    """Where a remote skill comes from, as ``owner/repo`` or a host."""
    origin: str | None = None
    """One of the words of :class:`Origin`; None for a skill built in code."""
    install_count: int = 0
    curated: bool = False
    hash: str | None = None
    """SHA-256 of the file's bytes, 64 hexadecimal digits."""
    last_modified: int | None = None
    """Unix seconds."""
    scope: str = "project"
    """``project`` for a root that was named, ``user`` for the user's own agent folders."""
    frontmatter: str | None = None
    """The frontmatter block as it stands in the file, without its fences."""
    user_invocable: bool = True
    disable_model_invocation: bool = False

    def __post_init__(self) -> None:
        _check_types(self)
        put = object.__setattr__
        if self.hash is None:
            put(self, "hash", _content_hash(self))
        if self.id is None:
            put(self, "id", document_id(self.name, self.hash or ""))
        if self.slug is None:
            put(self, "slug", self.name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Skill):
            return NotImplemented
        return all(getattr(self, key) == getattr(other, key) for key in self.__slots__)

    def __hash__(self) -> int:
        return hash((self.id, self.path))

    def __repr__(self) -> str:
        return f"Skill(name={self.name!r}, id={self.id!r}, path={self.path!r})"

    def __reduce__(self) -> tuple[object, ...]:
        # A mapping proxy does not pickle, and a catalog may have to travel between processes.
        state = {key: getattr(self, key) for key in self.__slots__}
        state["metadata"] = dict(self.metadata)
        return (_rebuild, (state,))

    @property
    def hidden(self) -> bool:
        """True when only an explicit ``@name`` or ``/name`` may choose this skill."""
        return self.trigger or self.disable_model_invocation

    @property
    def key(self) -> tuple[str, str]:
        """The last tie-break everywhere: name, then path with ``/``, both by code points."""
        return (self.name, self.path.replace("\\", "/"))


def _rebuild(state: dict[str, Any]) -> Skill:
    return Skill(**state)


_TUPLES = (
    "tags",
    "keywords",
    "inputs",
    "outputs",
    "safety_notes",
    "allowed_tools",
    "declared_references",
)
_TEXTS = (
    *("title", "version", "license", "compatibility", "hint"),
    *("source", "origin", "slug", "id", "hash"),
)


def _check_types(skill: Skill) -> None:
    put = object.__setattr__
    if not isinstance(skill.name, str) or not isinstance(skill.description, str):
        raise InvalidInput("Skill: name and description must be text")
    if skill.body is not None and not isinstance(skill.body, str):
        raise InvalidInput("Skill: body must be text, or None when it is not available")
    for key in _TUPLES:
        value = getattr(skill, key)
        if type(value) is not tuple:
            put(skill, key, _texts(key, value))
    if type(skill.triggers) is not Triggers:
        put(skill, "triggers", _triggers(skill.triggers))
    if isinstance(skill.references, str):
        raise InvalidInput("Skill: references must be a list")
    if skill.references:
        put(skill, "references", tuple(_reference(item) for item in skill.references))
    elif type(skill.references) is not tuple:
        put(skill, "references", ())
    put(skill, "metadata", _metadata(skill.metadata))
    for key in _TEXTS:
        value = getattr(skill, key)
        if value is not None and not isinstance(value, str):
            raise InvalidInput(f"Skill: {key} must be text, not {type(value).__name__}")
    for key in ("install_count", "priority"):
        value = getattr(skill, key)
        if type(value) is not int:
            raise InvalidInput(f"Skill: {key} must be an integer")


def _metadata(value: object) -> Mapping[str, Any]:
    """Return a view that nobody can write through, of a copy that nobody else holds."""
    if not value:
        return _EMPTY
    if isinstance(value, MappingProxyType):
        return value
    if not isinstance(value, Mapping):
        raise InvalidInput("Skill: metadata must be a mapping")
    return MappingProxyType(dict(value))


def _texts(field: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"Skill: {field} must be a list of text")
    items = tuple(value)
    if not all(isinstance(item, str) for item in items):
        raise InvalidInput(f"Skill: {field} must hold text only")
    return items


def _triggers(value: object) -> Triggers:
    if value is None:
        return Triggers()
    if isinstance(value, Mapping):
        known = {key: _texts(f"triggers.{key}", value.get(key)) for key in Triggers._fields}
        return Triggers(**known)
    return Triggers(phrases=_texts("triggers", value))


def _reference(value: object) -> Reference:
    if isinstance(value, Reference):
        return value
    if isinstance(value, str):
        return Reference(value.rsplit("/", 1)[-1], value)
    if isinstance(value, Mapping):
        path = str(value.get("path") or value.get("name") or "")
        content = value.get("content")
        return Reference(
            str(value.get("name") or path.rsplit("/", 1)[-1]),
            path,
            content if isinstance(content, str) else None,
        )
    raise InvalidInput("Skill: references must be paths, mappings or Reference values")


def _content_hash(skill: Skill) -> str:
    """SHA-256 of what makes this skill what it is, for skills that come from no file."""
    content = {
        "name": skill.name,
        "description": skill.description,
        "body": skill.body,
        "tags": skill.tags,
        "keywords": skill.keywords,
        "triggers": skill.triggers,
        "allowed_tools": skill.allowed_tools,
        "priority": skill.priority,
    }
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
