"""The entries of a lock file: :class:`Lock` and :class:`LockedSkill`, without I/O.

``lockfile.py`` documents the keys of a file and which of them are skillyard's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from types import MappingProxyType

from skillyard.base.text import folder_name

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

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
    """One skill of a lock.

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
    extra: Mapping[str, Json] = field(default_factory=dict)
    """All other keys; preserved when writing."""
    order: tuple[str, ...] = field(default=(), compare=False)
    """The keys in the order of the file; others follow in the documented order."""

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
        """Return the entry as in a file, with its keys in order; skillyard's own come last."""
        known: dict[str, Json] = {
            key: value for key, name in FIELDS.items() if (value := getattr(self, name)) is not None
        }
        own = {key: known.pop(key) for key in _OWN if key in known}
        values = {**known, **self.extra, **own}
        return {key: values[key] for key in (*self.order, *values) if key in values}


@dataclass(frozen=True, slots=True)
class Lock:
    """The skills of one lock file by unique name, sorted as the installer sorts them."""

    skills: tuple[LockedSkill, ...] = ()
    _: KW_ONLY
    version: int = 1
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Keys beside ``version`` and ``skills``."""

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
        return replace(self, skills=in_order((*self.without(skill.name).skills, skill)))

    def without(self, name: str) -> Lock:
        """Return a lock without the skill of that name."""
        return replace(self, skills=tuple(s for s in self.skills if s.name != name))


def in_order(skills: Iterable[LockedSkill]) -> tuple[LockedSkill, ...]:
    """Return skills sorted by UTF-16 code units, as JavaScript sorts."""
    return tuple(sorted(skills, key=lambda skill: skill.name.encode("utf-16-be", "surrogatepass")))
