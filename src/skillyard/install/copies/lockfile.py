"""Reads and writes the lock files of the common skills installer (``npx skills``).

A project's lock (``skills-lock.json``, version 1) and the user's lock (version 3) are shared with
the installer, so they are written as the installer writes them. In the user's lock,
whose entries have no order, only one entry changes at a time. The installer treats an unreadable
file, or an older user lock, as empty and overwrites it; here both are errors.

The keys of an entry in a project's lock are ``source``, ``sourceUrl``, ``ref``, ``sourceType``,
``skillPath``, ``computedHash`` and, after these, ``subagents`` and ``wellKnownDigest``. skillyard
adds four, which the installer ignores: ``commit``, the commit that was fetched, ``digest``, a
digest of the content, ``executableDigest``, one of the paths of executable files, and ``into``, a
folder of skills that no host reads. The installer preserves them when it changes other skills. When
it installs or updates the skill itself, it replaces the entry and drops them. An entry without them
is therefore valid: the skill is not pinned. Fields beside ``version`` and ``skills`` are preserved
here, and dropped when the installer writes.

Sources: the form of the text, the order of names and keys, and the folder hash come from the
published source of the installer's writer before version 1.7; the keys and the reading of local
sources come from 1.7.0. Not verified, because the newest writer was not available: the position of
``subagents`` and ``wellKnownDigest``, and the value for a local source outside the project (here
``../other``) and for the project itself (here ``./``). Existing entries keep the order of their
keys, so this only concerns new entries.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from skillyard.base.configuration import cache_folder
from skillyard.base.errors import SkillIoError, io_errors
from skillyard.base.io.files import atomic_write, sha256
from skillyard.base.io.locks import file_lock
from skillyard.base.io.strict_json import nested_deeper_than, strict_loads
from skillyard.base.text import folder_name
from skillyard.engine.resources import read_file

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

_KEYS = """
source sourceUrl ref sourceType skillPath computedHash wellKnownDigest commit digest
executableDigest into skillFolderHash pluginName installedAt updatedAt
"""
FIELDS: Mapping[str, str] = MappingProxyType(
    {key: re.sub("(?=[A-Z])", "_", key).lower() for key in _KEYS.split()}
)
"""Keys of an entry in a file, in the order in which new ones are written, and their fields."""
_OWN = ("commit", "digest", "executableDigest", "into")
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
    into: str | None = None
    """Only written by skillyard: the folder of skills that was named, below that of the lock, if it
    is none of a host."""
    skill_folder_hash: str | None = None
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
        return (
            self.computed_hash if self.computed_hash is not None else self.skill_folder_hash or None
        )

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


PROJECT_LOCK = "skills-lock.json"
USER_LOCK = ".skill-lock.json"
"""Below ``~/.agents``, or below ``$XDG_STATE_HOME/skills`` when that is set."""
PROJECT_VERSION = 1
USER_VERSION = 3
LOCAL = "local"
"""The source type of a folder on this machine."""
MAX_BYTES = 8 * 1024 * 1024
"""Maximum size of a lock file. An entry has about 300 bytes."""

MAX_DEPTH = 32
"""Maximum nesting. The installer's own files have three levels."""

_TRIES = 20
"""The installer takes a millisecond to read and write the user's lock."""

_CONFLICT = re.compile("^<{7} ", re.MULTILINE)


def read_project_lock(path: str) -> Lock:
    """Return a project's lock; an empty one when there is no file.

    Raises SkillIoError when the file cannot be read, is a link, is not a lock (``lock_damaged``,
    ``lock_conflict``), or has another version (``lock_version``).
    """
    return _lock(_stored(path, path, PROJECT_VERSION), path)


def project_lock_path(folder: str) -> str:
    """Return the lock of the project that a folder belongs to: the nearest above, else here."""
    above = os.path.abspath(folder)
    while not any(os.path.lexists(os.path.join(above, name)) for name in (PROJECT_LOCK, ".git")):
        parent = os.path.dirname(above)
        if parent == above:
            above, here = os.path.abspath(folder), os.getcwd()  # the working folder if above
            above = here if os.path.commonpath([here, above]) == here else above
            break
        above = parent
    path = os.path.join(above, PROJECT_LOCK)
    return path if os.path.isabs(folder) else os.path.relpath(path)


def is_of_project(lock: str, path: str) -> bool:
    """True where a lock is that of the project that a path lies in."""
    nearest = project_lock_path(os.path.dirname(os.path.abspath(path)))
    return os.path.realpath(nearest) == os.path.realpath(lock)


def user_lock_path() -> str:
    """Return the path of the user's lock, whether it exists or not."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(state):  # the XDG specification says to ignore relative paths
        return os.path.join(state, "skills", USER_LOCK)
    home = os.environ.get("HOME") or os.path.expanduser("~")
    return os.path.join(home, ".agents", USER_LOCK)


def is_user_lock(path: str) -> bool:
    """True for the name of a user's lock."""
    return os.path.basename(path) == USER_LOCK


def _bytes(path: str) -> bytes:
    with suppress(FileNotFoundError), open(path, "rb") as file:
        return file.read()
    return b""


def _stored(real: str, path: str, version: int) -> dict[str, Json]:
    """Return what a lock file holds beside its version, or an empty lock where there is none."""
    if not os.path.lexists(real):
        return {"skills": {}}
    data = read_file(real, MAX_BYTES, path).data
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _damaged(path, f"it is no UTF-8 at byte {error.start}") from None
    try:
        stored = strict_loads(text)
        if nested_deeper_than(stored, MAX_DEPTH):
            raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
    except (ValueError, RecursionError) as error:
        if _CONFLICT.search(text):
            raise _error(
                path,
                "lock_conflict",
                "it holds the marks of a merge conflict",
                "`git checkout --ours` or `--theirs` takes one side; `skillyard verify` then lists"
                " the skills of the other one, to be added again",
            ) from None
        raise _damaged(path, str(error)) from None
    if not isinstance(stored, dict):
        raise _damaged(path, "it is no JSON object")
    _check_version(stored.pop("version", None), version, path)
    return stored


def _lock(stored: dict[str, Json], path: str) -> Lock:
    entries = stored.pop("skills", None)
    if not isinstance(entries, dict):
        raise _damaged(path, "`skills` is no object")
    return Lock(
        in_order(_skill(name, entry, path) for name, entry in entries.items()),
        extra=stored,
    )


def _check_version(version: Json, expected: int, path: str) -> None:
    if type(version) is not int:
        raise _damaged(path, "`version` is no whole number")
    if version == expected:
        return
    what = f"it has version {version}, and {expected} is known here"
    hint = "update skillyard, or install the skills of an older file again"
    raise _error(path, "lock_version", what, hint)


def _skill(name: str, entry: Json, path: str) -> LockedSkill:
    if not isinstance(entry, dict):
        raise _damaged(path, f"the entry {name[:80]!a} is no object")
    fields: dict[str, Any] = {}
    extra = {}
    for key, value in entry.items():
        if key not in FIELDS:
            extra[key] = value
        elif isinstance(value, str):
            fields[FIELDS[key]] = value
        else:
            raise _damaged(path, f"`{key}` of the entry {name[:80]!a} is no text")
    for key in ("source", "sourceType"):
        if key not in entry:
            raise _damaged(path, f"the entry {name[:80]!a} has no `{key}`")
    return LockedSkill(name, extra=extra, order=tuple(entry), **fields)


def _damaged(path: str, what: str) -> SkillIoError:
    return _error(
        path,
        "lock_damaged",
        what,
        "restore the file from version control, or move it away and install the skills again",
    )


def _error(path: str, code: str, what: str, hint: str) -> SkillIoError:
    return SkillIoError(f"the lock file is refused: {what}", path=path, code=code, hint=hint)


def _encoded(stored: Mapping[str, Json]) -> bytes:
    """Return ``JSON.stringify(stored, null, 2)``: half a character becomes its escape."""
    return json.dumps(stored, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace")


def render_project_lock(lock: Lock) -> bytes:
    """Return the content of a project's lock."""
    skills: dict[str, Json] = {skill.name: skill.to_json() for skill in lock.skills}
    return _encoded({"version": PROJECT_VERSION, "skills": skills, **lock.extra}) + b"\n"


def portable_source(source: str, folder: str) -> str:
    """Return a local source in the form of a project's lock: relative to its folder, with ``./``.

    A relative source is already relative to that folder. A Windows path that has no meaning on this
    system is returned unchanged.
    """
    if os.sep == "/" and "\\" in source:
        return source
    relative = os.path.relpath(os.path.join(folder, source), folder).replace(os.sep, "/")
    if relative == ".":
        return "./"
    return relative if relative.startswith("../") or relative == ".." else f"./{relative}"


def source_folder(skill: LockedSkill, folder: str) -> str | None:
    """Return the folder of a local source, for a lock in ``folder``; None for other sources.

    None too for what no path can be. The lock may name any folder of this machine. Reading it is
    the user's decision.
    """
    if skill.source_type != LOCAL or not is_path(skill.source):
        return None
    return os.path.normpath(os.path.join(os.path.abspath(folder), skill.source))


def is_path(text: str) -> bool:
    """True for a text that can be a path on this system; JSON can hold others."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


class _Changed(Exception):
    """Another program has written the file meanwhile."""


def _replace(real: str, path: str, data: bytes, before: bytes | None = None) -> None:
    """Replace a file. Raises SkillIoError, and _Changed where it is not ``before`` any more."""

    def check() -> None:
        if before is not None and _bytes(real) != before:
            raise _Changed

    hint = "check the folder's permissions and its space"
    with io_errors("write", path, hint, "lock_unwritable"):
        if _bytes(real) != data:
            atomic_write(real, data, check=check)


class ProjectLock(NamedTuple):
    """The lock file at a path, which is read anew for each change: others change it too."""

    path: str

    def read(self) -> Lock:
        """Return the lock as it is now. Raises SkillIoError."""
        return read_project_lock(self.path)

    def note(self, entry: LockedSkill) -> None:
        """Add an entry, or replace the one of its name. Raises SkillIoError."""
        self._change(entry.name, entry)

    def drop(self, name: str) -> None:
        """Remove the entry of a name if there is one. Raises SkillIoError."""
        self._change(name, None)

    def _change(self, name: str, entry: LockedSkill | None) -> None:
        errors = io_errors("write", self.path, code="lock_unwritable")
        # The file and not its folder, which may be one that is written to.
        with errors, alone(os.path.abspath(self.path)):
            lock = self.read()
            if entry is not None or lock.get(name) is not None:
                self._write(lock, name, entry)

    def _write(self, lock: Lock, name: str, entry: LockedSkill | None) -> None:
        """Write the lock; local sources become portable. When two programs write, the last wins."""
        new = lock.without(name) if entry is None else lock.with_skill(entry)
        folder = os.path.dirname(os.path.abspath(self.path))
        skills = tuple(
            replace(skill, source=portable_source(skill.source, folder))
            if skill.source_type == LOCAL
            else skill
            for skill in new.skills
        )
        _replace(self.path, self.path, render_project_lock(replace(new, skills=skills)))


class UserLock(ProjectLock):
    """The lock of the skills of a user, which the common installer writes too. A link is followed.

    An older version is an error, although the installer treats it as empty.
    """

    __slots__ = ()

    def read(self) -> Lock:
        """Return the lock as it is now. Raises SkillIoError."""
        return _lock(_stored(os.path.realpath(self.path), self.path, USER_VERSION), self.path)

    def _write(self, lock: Lock, name: str, entry: LockedSkill | None) -> None:
        """Change one entry; all others and other keys stay as they are, in their order.

        The installer takes no lock, so the file is read once more right before the rename.
        """
        known = lock.get(name)
        entry = entry and stamped(entry, known, time.time())
        if entry == known:
            return
        real = os.path.realpath(self.path)
        with suppress(OSError):
            os.makedirs(os.path.dirname(real), exist_ok=True)
        for _ in range(_TRIES):
            before = _bytes(real)
            stored = _stored(real, self.path, USER_VERSION)
            skills = stored["skills"]
            assert isinstance(skills, dict)
            skills.pop(name, None) if entry is None else skills.update({name: entry.to_json()})
            with suppress(_Changed):
                _replace(
                    real, self.path, _encoded({"version": USER_VERSION, **stored}), before=before
                )
                return
        hint = "run the command again when `npx skills` has ended"
        what = "another program writes it"
        raise SkillIoError(what, path=self.path, code="lock_unwritable", hint=hint)


def stamped(entry: LockedSkill, known: LockedSkill | None, now: float) -> LockedSkill:
    """Return a new entry of the user's lock with the times of its installation and update.

    ``known`` is the entry that it replaces, ``now`` in seconds since 1970. An entry that changes
    nothing keeps its times.
    """
    moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
    text = moment.replace("+00:00", "Z")
    first = known and known.installed_at
    entry = replace(entry, installed_at=first or entry.installed_at or text)
    same = known is not None and replace(entry, updated_at=known.updated_at) == known
    return known if known is not None and same else replace(entry, updated_at=text)


@contextmanager
def alone(*paths: str) -> Iterator[bool]:
    """Lock folders or files against other runs of this user, in an order that cannot deadlock.

    A lock is a file in the user's cache, not in the folder, which other programs list. When it
    cannot be created or locked (some network file systems lack locks), the work continues without
    it, and the value is False. The same path must not be locked again inside.
    """
    folder = os.path.join(cache_folder(), "locks")
    with ExitStack() as held:
        is_alone = True
        real = {os.path.normcase(os.path.realpath(path)) for path in paths}
        for name in sorted(f"{sha256(os.fsencode(each)).hex()[:24]}.lock" for each in real):
            try:
                os.makedirs(folder, mode=0o700, exist_ok=True)
                held.enter_context(file_lock(os.path.join(folder, name), timeout_s=None))
            except OSError:
                is_alone = False
        yield is_alone
