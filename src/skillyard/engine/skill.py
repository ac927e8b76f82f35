"""The values that describe a skill. No I/O."""

import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from skillyard.base.arguments import Conversion, Texts, set_field, text_items
from skillyard.base.errors import InvalidInput
from skillyard.base.io.files import sha256
from skillyard.base.text import normalised_name

CONVENTION_TAG = "convention"
"""The tag that every convention document (AGENTS.md and kin) carries."""


SCOPES = ("user", "project", "system")
"""The names of the scopes, whose folders are added to those that are named."""

STORED = "store://"
"""Prefix of the path of a skill from a catalog store, which has no files here."""


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
    """One document beside a skill (Skyll's sense of *reference*)."""

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


NO_TRIGGERS = Triggers()
_EMPTY: Mapping[str, Any] = MappingProxyType({})


def document_id(name: str, content_hash: str) -> str:
    """Return the stable document id: normalised name, hyphen, first 12 hash characters."""
    return f"{normalised_name(name)}-{content_hash[:12]}"


class SkillField(NamedTuple):
    """One field of :class:`Skill`, and where it belongs."""

    name: str
    default: Any
    """None too where it is required, or worked out when it is not given."""
    card: bool
    """An index holds it, and an answer shows it without reading the skill's file."""
    key: str
    """Its key in frontmatter; empty where it does not come from there."""
    wire: bool
    """JSON documents have it under this name. The members of Skyll's shape keep Skyll's names."""
    page: str
    """Its label on the web page and the terminal; empty where it has no row of its own there."""
    content: bool
    """A change of it changes the hash and the id of a skill that comes from no file."""
    around: bool
    """True for a field about the location of a copy, which is not part of the content."""
    check: Callable[[str, Any], Any]
    """Returns the field's value for (name, given value). Raises InvalidInput."""

    def encode(self, value: Any) -> Any:
        """Return the value as JSON has it."""
        if isinstance(value, Triggers):
            return {name: list(items) for name, items in value._asdict().items()}
        if self.name == "references":
            return [list(reference) for reference in value]
        if isinstance(value, Mapping):
            return dict(value)
        return list(value) if isinstance(value, tuple) else value

    def decode(self, value: Any) -> Any:
        """Return the value that :meth:`encode` made JSON of. Raises InvalidInput, TypeError."""
        if self.name == "references":
            value = [Reference(*reference) for reference in value]
        return self.check(self.name, value)


def _use(
    check: Callable[[str, Any], Any],
    default: Any = None,
    *,
    required: bool = False,
    card: bool = False,
    key: str = "",
    wire: bool = False,
    page: str = "",
    content: bool = False,
    around: bool = False,
) -> Any:
    """Return a field of :class:`Skill`; the arguments are those of :class:`SkillField`."""
    uses = {"check": check, "card": card, "key": key, "wire": wire, "page": page}
    options = {} if required else {"default": default}
    return field(metadata={**uses, "content": content, "around": around}, **options)


# What each field may hold. Each returns the value itself where nothing has to change.


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"Skill: {name} must be text, not {type(value).__name__}")
    return value


def _maybe_text(name: str, value: object) -> str | None:
    return None if value is None else _text(name, value)


def _integer(name: str, value: object) -> int:
    if type(value) is not int:
        raise InvalidInput(f"Skill: {name} must be an integer")
    return value


def _when(name: str, value: object) -> int | None:
    return None if value is None else _integer(name, value)


def _metadata(name: str, value: object) -> Mapping[str, Any]:
    """Return a read-only view of a private copy."""
    if value is None:
        return _EMPTY
    if not isinstance(value, Mapping):
        raise InvalidInput(f"Skill: {name} must be a mapping, not {type(value).__name__}")
    if not value:
        return _EMPTY
    return MappingProxyType({key: _copy(item) for key, item in value.items()})


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _path(name: str, value: object) -> str:
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise InvalidInput(f"Skill: {name} must be text or a path, not {type(value).__name__}")
    return path


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"Skill: {name} must be true or false")
    return value


def _texts(name: str, value: object) -> tuple[str, ...]:
    if not value and (value is None or type(value) is tuple):
        return ()
    return text_items(f"Skill: {name}", value)  # type: ignore[arg-type]


def _triggers(name: str, value: object) -> Triggers:
    if value is None or value is NO_TRIGGERS:
        return NO_TRIGGERS
    if isinstance(value, Triggers):
        value = value._asdict()
    if isinstance(value, Mapping):
        known = {key: _texts(f"{name}.{key}", value.get(key)) for key in Triggers._fields}
        return Triggers(**known)
    return Triggers(phrases=_texts(name, value))


def _references(name: str, value: Iterable[Any]) -> tuple[Reference, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"Skill: {name} must be a list, not {type(value).__name__}")
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Skill:
    """One skill: metadata, instructions and where they came from. Immutable.

    ``body`` is None when the content is not available (a remote pointer whose fetch failed).
    ``id``, ``slug`` and ``hash`` are derived when None. Lists are copied into tuples. Two skills
    are equal when all their fields are. Raises InvalidInput when a field has the wrong type.

    A field is declared here and nowhere else: what an index, a store, a service and a page hold of
    a skill is made from :data:`SKILL_FIELDS`.
    """

    name: str = _use(_text, required=True, key="name", card=True, content=True)
    description: str = _use(_text, required=True, key="description", card=True, content=True)
    body: str | None = _use(_maybe_text, required=True, content=True)
    path: Conversion[str | os.PathLike[str], str] = _use(_path, "", card=True, around=True)
    _: KW_ONLY
    id: Conversion[str | None, str] = _use(_maybe_text, card=True)
    slug: Conversion[str | None, str] = _use(_maybe_text, key="id", card=True)
    title: str | None = _use(_maybe_text, key="title", card=True, content=True)
    version: str | None = _use(_maybe_text, key="version", page="Version")
    license: str | None = _use(_maybe_text, key="license", wire=True, page="License")
    compatibility: str | None = _use(
        _maybe_text, key="compatibility", wire=True, page="Compatibility"
    )
    hint: str | None = _use(_maybe_text, key="hint", wire=True)
    tags: Texts = _use(_texts, (), key="tags", card=True, wire=True, page="Tags", content=True)
    keywords: Texts = _use(_texts, (), key="keywords", wire=True, content=True)
    triggers: Conversion[
        Triggers | Mapping[str, Iterable[str]] | Iterable[str] | None, Triggers
    ] = _use(_triggers, NO_TRIGGERS, key="triggers", wire=True, content=True)
    trigger: bool = _use(_flag, False, key="trigger", card=True, wire=True)
    """True: hidden from automatic choice, reached only by ``@name`` or by name."""
    priority: int = _use(_integer, 0, key="priority", card=True, wire=True, content=True)
    inputs: Texts = _use(_texts, (), key="inputs", wire=True)
    outputs: Texts = _use(_texts, (), key="outputs", wire=True)
    safety_notes: Texts = _use(_texts, (), key="safety_notes", wire=True, page="Safety notes")
    allowed_tools: Texts = _use(
        _texts, (), key="allowed-tools", card=True, page="Allowed tools", content=True
    )
    requires: Texts = _use(_texts, (), key="requires", card=True, wire=True, page="Requires")
    """What must be there before it is chosen: ``skill:NAME``, ``skill:NAME>=VERSION``,
    ``tool:NAME``, ``tool:A|B`` (one of them) and ``program:NAME``."""
    declared_references: Texts = _use(_texts, (), key="references", wire=True)
    """The frontmatter list ``references`` (adk's sense): external files that the skill needs."""
    references: Conversion[Iterable[Reference | str | Mapping[str, Any]], tuple[Reference, ...]] = (
        _use(_references, ())
    )
    """Documents found beside the skill (Skyll's sense)."""
    metadata: Conversion[Mapping[str, Any] | None, Mapping[str, Any]] = _use(
        _metadata, key="metadata"
    )
    source: str | None = _use(_maybe_text, card=True)
    """Where a remote skill comes from, as ``owner/repo`` or a host."""
    origin: str | None = _use(_maybe_text, card=True, wire=True)
    """One of the words of :class:`Origin`; None for a skill built in code."""
    install_count: int = _use(_integer, 0, card=True)
    curated: bool = _use(_flag, False, card=True)
    hash: Conversion[str | None, str] = _use(_maybe_text, card=True)
    """SHA-256 of the file's bytes, or of the content of a skill built in code; 64 digits."""
    last_modified: int | None = _use(_when, card=True, wire=True, around=True)
    """Unix seconds."""
    scope: str = _use(_text, "project", card=True, around=True)
    """``project`` for a root that was named or a folder of the project, ``user`` for the user's own
    agent folders, ``system`` for those of all users."""
    plugin: str | None = _use(_maybe_text, card=True, wire=True, page="Plugin", around=True)
    """The plugin of Claude Code that it comes with; its name begins with it, and a colon."""
    frontmatter: str | None = _use(_maybe_text)
    """The frontmatter block of the file, unchanged, without its fences."""
    user_invocable: bool = _use(_flag, True, key="user-invocable", card=True, wire=True)
    disable_model_invocation: bool = _use(
        _flag, False, key="disable-model-invocation", card=True, wire=True
    )

    def __post_init__(self) -> None:
        for name, check in _CHECKS:
            field_value = getattr(self, name)
            value = check(name, field_value)
            if value is not field_value:
                set_field(self, name, value)
        if not self.hash:
            set_field(self, "hash", _content_hash(self))
        if not self.id:
            set_field(self, "id", document_id(self.name, self.hash))
        if not self.slug:
            set_field(self, "slug", self.name)

    def replace(self, **changes: Any) -> "Skill":
        """Return a copy with the named fields changed.

        Changed content gets a hash and an id of its own, a changed name a slug, unless they are
        given too; a field that is given what it holds is not changed. Raises TypeError for an
        unknown field.
        """
        changed = {
            name
            for name, value in changes.items()
            if name in SKILL_FIELDS and value is not getattr(self, name)
        }
        if not _CONTENT.isdisjoint(changed):
            changes = {"hash": None, "id": None, **changes}
        if "name" in changed and self.slug == self.name:
            changes = {"slug": None, **changes}
        return Skill(**{**self.fields(), **changes})

    __replace__ = replace  # what copy.replace() calls, from Python 3.13

    def fields(self) -> dict[str, Any]:
        """Return the fields by name, in order."""
        return {name: getattr(self, name) for name in SKILL_FIELDS}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Skill):
            return NotImplemented
        if self is other:
            return True
        # First what every skill has at hand: the rest of a card is read from its file.
        if (self.id, self.path, self.hash) != (other.id, other.path, other.hash):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in SKILL_FIELDS)

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
    def internal(self) -> bool:
        """True for ``metadata.internal: true``, which hides a skill from listings."""
        return str(self.metadata.get("internal", "")).lower() == "true"

    @property
    def stored(self) -> bool:
        """True for a skill that a catalog store gave; its ``path`` says where it stands there."""
        return self.path.startswith(STORED)

    @property
    def key(self) -> tuple[str, str]:
        """The last tie-break everywhere: name, then path with ``/``, both by code points."""
        return (self.name, self.path.replace("\\", "/"))


def _skill_field(each: dataclasses.Field[Any]) -> SkillField:
    default = None if each.default is dataclasses.MISSING else each.default
    return SkillField(name=each.name, default=default, **each.metadata)


SKILL_FIELDS: Mapping[str, SkillField] = MappingProxyType(
    {each.name: _skill_field(each) for each in dataclasses.fields(Skill)}
)
"""Every field of :class:`Skill` by name, in order."""
_CHECKS = tuple((each.name, each.check) for each in SKILL_FIELDS.values())
_CONTENT = frozenset(
    {each.name for each in SKILL_FIELDS.values() if each.content}
    | {"trigger", "disable_model_invocation"}
)
"""The fields that :func:`_content_hash` looks at."""


def _rebuilt(fields: dict[str, Any]) -> Skill:
    return Skill(**fields)


def _content_hash(skill: Skill) -> str:
    """Return the SHA-256 of the content, for skills that were not read from a file."""
    content = {
        each.name: getattr(skill, each.name) for each in SKILL_FIELDS.values() if each.content
    }
    text = json.dumps({**content, "trigger": skill.hidden}, sort_keys=True, ensure_ascii=True)
    return sha256(text.encode("ascii")).hex()
