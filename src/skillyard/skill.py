"""What a skill is, as values. No I/O here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from skillyard.arguments import check_arguments
from skillyard.digest import sha256
from skillyard.errors import InvalidInput
from skillyard.text import normalised_name
from skillyard.value import Value, put

__all__ = [
    "CONVENTION_TAG",
    "STORED",
    "Origin",
    "Reference",
    "Skill",
    "Triggers",
    "document_id",
]

CONVENTION_TAG = "convention"
"""The tag that every convention document (AGENTS.md and kin) carries."""


STORED = "store://"
"""What the path of a skill starts with that a catalog store gave: it has no files here."""


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


@check_arguments
class Reference(NamedTuple):
    """One document that lies beside a skill (Skyll's sense of *reference*)."""

    name: str
    path: str
    """Relative to the skill's folder, with ``/``."""
    content: str | None = None


@check_arguments
class Triggers(NamedTuple):
    """What should make a skill fire, as its author declared it."""

    files: tuple[str, ...] = ()
    """Glob patterns over file paths."""
    keywords: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    """Oasis trigger phrases, and the entries of a plain ``triggers`` list."""


NO_TRIGGERS = Triggers()
_EMPTY: Mapping[str, Any] = MappingProxyType({})


def document_id(name: str, content_hash: str) -> str:
    """Return the stable document id: normalised name, hyphen, first 12 hash characters."""
    return f"{normalised_name(name)}-{content_hash[:12]}"


class Skill(Value):
    """One skill: metadata, instructions and where they came from. Immutable.

    ``body`` is None when the content is not available (a remote pointer whose fetch failed).
    ``id``, ``slug`` and ``hash`` are derived when None. Lists are copied into tuples. Two skills
    are equal when all their fields are. Raises InvalidInput when a field has the wrong type.
    """

    __slots__ = (
        *("name", "description", "body", "path", "id", "slug", "title", "version", "license"),
        *("compatibility", "hint", "tags", "keywords", "triggers", "trigger", "priority"),
        *("inputs", "outputs", "safety_notes", "allowed_tools", "declared_references"),
        *("references", "metadata", "source", "origin", "install_count", "curated", "hash"),
        *("last_modified", "scope", "frontmatter", "user_invocable", "disable_model_invocation"),
    )

    name: str
    description: str
    body: str | None
    path: str
    id: str
    slug: str
    title: str | None
    version: str | None
    license: str | None
    compatibility: str | None
    hint: str | None
    tags: tuple[str, ...]
    keywords: tuple[str, ...]
    triggers: Triggers
    trigger: bool
    """True: hidden from automatic choice, reached only by ``@name`` or by name."""
    priority: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    safety_notes: tuple[str, ...]
    allowed_tools: tuple[str, ...]
    declared_references: tuple[str, ...]
    """The frontmatter list ``references`` (adk's sense): external files that the skill needs."""
    references: tuple[Reference, ...]
    """Documents found beside the skill (Skyll's sense)."""
    metadata: Mapping[str, Any]
    source: str | None
    """Where a remote skill comes from, as ``owner/repo`` or a host."""
    origin: str | None
    """One of the words of :class:`Origin`; None for a skill built in code."""
    install_count: int
    curated: bool
    hash: str
    """SHA-256 of the file's bytes, or of the content of a skill built in code; 64 digits."""
    last_modified: int | None
    """Unix seconds."""
    scope: str
    """``project`` for a root that was named, ``user`` for the user's own agent folders."""
    frontmatter: str | None
    """The frontmatter block as it stands in the file, without its fences."""
    user_invocable: bool
    disable_model_invocation: bool

    def __init__(
        self,
        name: str,
        description: str,
        body: str | None,
        path: str = "",
        *,
        id: str | None = None,
        slug: str | None = None,
        title: str | None = None,
        version: str | None = None,
        license: str | None = None,
        compatibility: str | None = None,
        hint: str | None = None,
        tags: Iterable[str] = (),
        keywords: Iterable[str] = (),
        triggers: Triggers | Mapping[str, Iterable[str]] | Iterable[str] = NO_TRIGGERS,
        trigger: bool = False,
        priority: int = 0,
        inputs: Iterable[str] = (),
        outputs: Iterable[str] = (),
        safety_notes: Iterable[str] = (),
        allowed_tools: Iterable[str] = (),
        declared_references: Iterable[str] = (),
        references: Iterable[Reference | str | Mapping[str, Any]] = (),
        metadata: Mapping[str, Any] | None = None,
        source: str | None = None,
        origin: str | None = None,
        install_count: int = 0,
        curated: bool = False,
        hash: str | None = None,
        last_modified: int | None = None,
        scope: str = "project",
        frontmatter: str | None = None,
        user_invocable: bool = True,
        disable_model_invocation: bool = False,
    ) -> None:
        if not isinstance(name, str) or not isinstance(description, str):
            raise InvalidInput("Skill: name and description must be text")
        if body is not None and not isinstance(body, str):
            raise InvalidInput("Skill: body must be text, or None when it is not available")
        put(self, "name", name)
        put(self, "description", description)
        put(self, "body", body)
        put(self, "path", _path(path))
        put(self, "title", _text("title", title))
        put(self, "version", _text("version", version))
        put(self, "license", _text("license", license))
        put(self, "compatibility", _text("compatibility", compatibility))
        put(self, "hint", _text("hint", hint))
        put(self, "tags", _texts("tags", tags))
        put(self, "keywords", _texts("keywords", keywords))
        put(self, "triggers", _triggers(triggers))
        put(self, "trigger", _flag("trigger", trigger))
        put(self, "priority", _integer("priority", priority))
        put(self, "inputs", _texts("inputs", inputs))
        put(self, "outputs", _texts("outputs", outputs))
        put(self, "safety_notes", _texts("safety_notes", safety_notes))
        put(self, "allowed_tools", _texts("allowed_tools", allowed_tools))
        put(self, "declared_references", _texts("declared_references", declared_references))
        put(self, "references", _references(references))
        put(self, "metadata", _metadata(metadata))
        put(self, "source", _text("source", source))
        put(self, "origin", _text("origin", origin))
        put(self, "install_count", _integer("install_count", install_count))
        put(self, "curated", _flag("curated", curated))
        put(self, "last_modified", _when(last_modified))
        put(self, "scope", _text("scope", scope) or "project")
        put(self, "frontmatter", _text("frontmatter", frontmatter))
        put(self, "user_invocable", _flag("user_invocable", user_invocable))
        hidden = _flag("disable_model_invocation", disable_model_invocation)
        put(self, "disable_model_invocation", hidden)
        digest = _text("hash", hash) or _content_hash(self)
        put(self, "hash", digest)
        put(self, "id", _text("id", id) or document_id(name, digest))
        put(self, "slug", _text("slug", slug) or name)

    def replace(self, **changes: Any) -> Skill:
        """Return a copy with the named fields changed.

        Changed content gets a hash and an id of its own, a changed name a slug, unless they are
        given too; a field that is given what it holds is not changed. Raises TypeError for an
        unknown field.
        """
        changed = {
            name
            for name, value in changes.items()
            if name in _NAMES and value is not getattr(self, name)
        }
        if not _CONTENT.isdisjoint(changed):
            changes = {"hash": None, "id": None, **changes}
        if "name" in changed and self.slug == self.name:
            changes = {"slug": None, **changes}
        return Skill(**{**self.fields(), **changes})

    __replace__ = replace  # what copy.replace() calls, from Python 3.13

    def fields(self) -> dict[str, Any]:
        """Return the fields by name, in order."""
        return {name: getattr(self, name) for name in Skill.__slots__}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Skill):
            return NotImplemented
        if self is other:
            return True
        # First what every skill has at hand: the rest of a card is read from its file.
        if (self.id, self.path, self.hash) != (other.id, other.path, other.hash):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in Skill.__slots__)

    def __hash__(self) -> int:
        return hash((self.id, self.path))

    def __repr__(self) -> str:
        return f"Skill(name={self.name!r}, id={self.id!r}, path={self.path!r})"

    def __reduce__(self) -> tuple[object, ...]:
        # A mapping proxy does not pickle, and a catalog may have to travel between processes.
        return (_rebuilt, ({**self.fields(), "metadata": dict(self.metadata)},))

    @property
    def hidden(self) -> bool:
        """True when only an explicit ``@name`` or ``/name`` may choose this skill."""
        return self.trigger or self.disable_model_invocation

    @property
    def stored(self) -> bool:
        """True for a skill that a catalog store gave; its ``path`` says where it stands there."""
        return self.path.startswith(STORED)

    @property
    def key(self) -> tuple[str, str]:
        """The last tie-break everywhere: name, then path with ``/``, both by code points."""
        return (self.name, self.path.replace("\\", "/"))


_CONTENT = frozenset(
    {"name", "title", "trigger", "disable_model_invocation", "description", "body"}
    | {"tags", "keywords", "triggers", "allowed_tools", "priority"}
)
"""The fields that :func:`_content_hash` looks at."""
_NAMES = frozenset(Skill.__slots__)


def _rebuilt(fields: dict[str, Any]) -> Skill:
    return Skill(**fields)


def _text(field: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise InvalidInput(f"Skill: {field} must be text, not {type(value).__name__}")


def _integer(field: str, value: object) -> int:
    if type(value) is not int:
        raise InvalidInput(f"Skill: {field} must be an integer")
    return value


def _when(value: object) -> int | None:
    return None if value is None else _integer("last_modified", value)


def _metadata(value: object) -> Mapping[str, Any]:
    """Return a view that nobody can write through, of a copy that nobody else holds."""
    if value is None:
        return _EMPTY
    if not isinstance(value, Mapping):
        raise InvalidInput(f"Skill: metadata must be a mapping, not {type(value).__name__}")
    if not value:
        return _EMPTY
    return MappingProxyType({key: _copied(item) for key, item in value.items()})


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _path(value: object) -> str:
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise InvalidInput(f"Skill: path must be text or a path, not {type(value).__name__}")
    return path


def _flag(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"Skill: {field} must be true or false")
    return value


def _texts(field: str, value: object) -> tuple[str, ...]:
    if not value and (value is None or type(value) is tuple):
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"Skill: {field} must be a list of text")
    items = tuple(value)
    if not {str}.issuperset(map(type, items)) and not all(isinstance(t, str) for t in items):
        raise InvalidInput(f"Skill: {field} must hold text only")
    # A set has no order of its own; its order in memory must not decide anything.
    return tuple(sorted(items)) if isinstance(value, set | frozenset) else items


def _triggers(value: object) -> Triggers:
    if value is NO_TRIGGERS:
        return NO_TRIGGERS
    if isinstance(value, Triggers):
        return Triggers(
            *(_texts(f"triggers.{key}", value[i]) for i, key in enumerate(value._fields))
        )
    if value is None:
        return NO_TRIGGERS
    if isinstance(value, Mapping):
        known = {key: _texts(f"triggers.{key}", value.get(key)) for key in Triggers._fields}
        return Triggers(**known)
    return Triggers(phrases=_texts("triggers", value))


def _references(value: Iterable[Any]) -> tuple[Reference, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"Skill: references must be a list, not {type(value).__name__}")
    return tuple(_reference(item) for item in value)


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
        "title": skill.title,
        "trigger": skill.hidden,
        "description": skill.description,
        "body": skill.body,
        "tags": skill.tags,
        "keywords": skill.keywords,
        "triggers": skill.triggers,
        "allowed_tools": skill.allowed_tools,
        "priority": skill.priority,
    }
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return sha256(text.encode("ascii")).hex()
