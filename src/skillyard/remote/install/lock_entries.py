"""The entries of a lock file: :class:`Lock` and :class:`LockedSkill`, without I/O.

``lockfile.py`` documents the keys of a file and which of them are skillyard's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from types import MappingProxyType

from skillyard.arguments import Conversion, conversion, set_field
from skillyard.errors import InvalidInput
from skillyard.remote.install.javascript_json import Json, key_order, parse, stringify
from skillyard.text import folder_name

__all__ = ["FIELDS", "KEYS", "Lock", "LockedSkill", "folder_name"]

KEYS: Mapping[str, str] = MappingProxyType(
    {
        "source": "source",
        "source_url": "sourceUrl",
        "ref": "ref",
        "source_type": "sourceType",
        "skill_path": "skillPath",
        "computed_hash": "computedHash",
        "well_known_digest": "wellKnownDigest",
        "commit": "commit",
        "digest": "digest",
        "executable_digest": "executableDigest",
        "folder_hash": "skillFolderHash",
        "plugin_name": "pluginName",
        "installed_at": "installedAt",
        "updated_at": "updatedAt",
    }
)
"""Fields of a locked skill and their keys in a file, in the order in which new ones are written."""
FIELDS: Mapping[str, str] = MappingProxyType({key: field for field, key in KEYS.items()})
"""The inverse mapping."""
_OWN = ("commit", "digest", "executableDigest")
"""Keys that the installer does not know."""


@dataclass(frozen=True, slots=True)
class LockedSkill:
    """One skill of a lock. Raises InvalidInput for a field of the wrong type.

    ``name`` is the key in the lock and may be any text; :func:`folder_name` returns its folder
    name.
    """

    name: str
    source: str
    """``owner/repo``, an address, a package, or a folder for the ``source_type`` local."""
    source_type: str
    """``github``, ``git``, ``local``, ``node_modules``, ``well-known`` …"""
    _: KW_ONLY
    source_url: str | None = None
    ref: str | None = None
    """The requested branch or tag."""
    skill_path: str | None = None
    """Path of the SKILL.md inside the source."""
    computed_hash: str | None = None
    """In a project's lock: ``folder_hash`` of the skill's files."""
    well_known_digest: str | None = None
    commit: str | None = None
    """Only written by skillyard: the commit that was fetched."""
    digest: str | None = None
    """Only written by skillyard: a digest of the content."""
    executable_digest: str | None = None
    """Only written by skillyard: a digest of which files may be executed; None where not known."""
    folder_hash: str | None = None
    """In the user's lock: the SHA-1 of a tree on GitHub, a ``folder_hash``, or empty."""
    plugin_name: str | None = None
    installed_at: str | None = None
    updated_at: str | None = None
    extra: Conversion[Iterable[tuple[str, str]], tuple[tuple[str, str], ...]] = conversion(())
    """All other keys, with their values as JSON text; preserved when writing."""
    order: Conversion[Iterable[str], tuple[str, ...]] = conversion(())
    """The keys in the order of the file; empty for the documented order."""

    def __post_init__(self) -> None:
        for field in ("name", "source", "source_type"):
            if not isinstance(value := getattr(self, field), str):
                raise InvalidInput(f"{field} must be text, not {type(value).__name__}")
        for field in KEYS:
            if not isinstance(getattr(self, field), str | None):
                raise InvalidInput(f"{field} must be text or None")
        set_field(self, "extra", _checked_extra(self.extra, FIELDS))
        set_field(self, "order", self._settled(tuple(self.order)))

    def _settled(self, order: tuple[str, ...]) -> tuple[str, ...]:
        """Return the order of all existing keys, or () for the documented order."""
        documented = self._documented()
        known = frozenset(documented)
        first = [key for key in order if key in known]
        settled = key_order(dict.fromkeys([*first, *documented]))
        return () if settled == documented else tuple(settled)

    def _documented(self) -> list[str]:
        """Return the existing keys in the order of a new entry: skillyard's own come last."""
        there = [key for field, key in KEYS.items() if getattr(self, field) is not None]
        installers = [key for key in there if key not in _OWN]
        own = [key for key in there if key in _OWN]
        return key_order([*installers, *(key for key, _ in self.extra), *own])

    @property
    def content_hash(self) -> str | None:
        """The installer's hash of the content, of either lock; None where it has none."""
        return self.computed_hash if self.computed_hash is not None else self.folder_hash or None

    def pins_same(self, other: LockedSkill) -> bool:
        """True where another entry of the skill pins the same files, as far as both say so."""
        if self.digest is None:
            return self.content_hash == other.content_hash
        modes = {self.executable_digest, other.executable_digest} - {None}
        return self.digest == other.digest and len(modes) < 2

    def to_json(self) -> dict[str, Json]:
        """Return the entry as in a file, with its keys in order."""
        extra = dict(self.extra)
        return {
            key: parse(extra[key]) if key in extra else getattr(self, FIELDS[key])
            for key in self.order or self._documented()
        }


@dataclass(frozen=True, slots=True)
class Lock:
    """The skills of one lock file by unique name, sorted as the installer sorts them.

    Raises InvalidInput for two skills with one name.
    """

    skills: Conversion[Iterable[LockedSkill], tuple[LockedSkill, ...]] = conversion(())
    _: KW_ONLY
    version: int = 1
    extra: Conversion[Iterable[tuple[str, str]], tuple[tuple[str, str], ...]] = conversion(())
    """Keys beside ``version`` and ``skills``, with their values as JSON text."""

    def __post_init__(self) -> None:
        by_name: dict[str, LockedSkill] = {}
        for skill in self.skills:
            if skill.name in by_name:
                raise InvalidInput(f"two locked skills have the name {skill.name[:80]!a}")
            by_name[skill.name] = skill
        # Sorted by UTF-16 code units, as in JavaScript. Names such as "7" come first, because an
        # object of JavaScript lists array indexes first.
        names = key_order(
            sorted(by_name, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        )
        set_field(self, "skills", tuple(by_name[name] for name in names))
        set_field(self, "extra", _checked_extra(self.extra, ("version", "skills")))

    def get(self, name: str) -> LockedSkill | None:
        """Return the skill with that name, or None."""
        return next((skill for skill in self.skills if skill.name == name), None)

    def in_folder(self, folder: str) -> LockedSkill | None:
        """Return the skill in the folder of that name: the one with this name, else the first.

        Names may be any text, and several can have the same folder name.
        """
        named = (skill for skill in self.skills if folder_name(skill.name) == folder)
        return self.get(folder) or next(named, None)

    def with_skill(self, skill: LockedSkill) -> Lock:
        """Return a lock with the skill, which replaces one of the same name."""
        others = self.without(skill.name)
        return replace(others, skills=(*others.skills, skill))

    def without(self, name: str) -> Lock:
        """Return a lock without the skill of that name."""
        return replace(self, skills=tuple(s for s in self.skills if s.name != name))


def _checked_extra(
    extra: Iterable[tuple[str, str]], reserved: Iterable[str]
) -> tuple[tuple[str, str], ...]:
    """Return extra fields by key, in canonical form. Raises InvalidInput."""
    entries: dict[str, str] = {}
    for key, text in extra:
        if key in entries or key in reserved:
            raise InvalidInput(f"the key {key[:80]!a} is taken")
        try:
            entries[key] = stringify(parse(text))
        except ValueError as error:
            raise InvalidInput(f"the value of {key[:80]!a} is no JSON text: {error}") from None
    return tuple(sorted(entries.items()))
