"""The lock files of the common skills installer (``npx skills``), read and written.

A project's lock (``skills-lock.json``, version 1) is shared: the installer and skillyard take turns
on it, so it is written as the installer writes it, to the byte. The user's lock (version 3) is the
installer's own: it is read, and never written. The installer takes a file that it cannot read, or
an older user lock, for an empty one and overwrites it; here both are errors with a name.

The keys of an entry in a project's lock are ``source``, ``sourceUrl``, ``ref``, ``sourceType``,
``skillPath``, ``computedHash`` and, after these, ``subagents`` and ``wellKnownDigest``. skillyard
adds two, which the installer ignores: ``commit``, the commit that was fetched, and ``digest``, a
digest of the content. The installer writes back an entry as it read it, so both survive whatever it
does to other skills; when it installs or updates a skill itself, it replaces that skill's entry and
both are gone. So an entry without them is no error: it is a skill that is not pinned. Fields beside
``version`` and ``skills`` are kept here, and the installer drops them when it writes.

How sure this is: the text's form, the order of names and keys and the folder hash come from the
published source of the installer's writer before version 1.7, the keys and the reading of local
sources from that of 1.7.0. Not verified, since the newest writer was not at hand: the place of
``subagents`` and ``wellKnownDigest``, and what it writes for a local source outside the project
(here ``../other``) and for the project itself (here ``./``). Entries that were read keep the order
of their keys, so a doubt concerns new entries only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from skillyard.errors import InvalidInput, SkillError, SkillIoError
from skillyard.io.atomic_write import atomic_write
from skillyard.remote.install.file_paths import checked_path
from skillyard.remote.install.javascript_json import Json, parse, stringify
from skillyard.remote.install.lock_entries import FIELDS, KEYS, Lock, LockedSkill, folder_name
from skillyard.resources import read_file

__all__ = [
    "LOCAL",
    "PROJECT_LOCK",
    "USER_LOCK",
    "Lock",
    "LockedSkill",
    "folder_name",
    "portable_source",
    "read_project_lock",
    "read_user_lock",
    "render_project_lock",
    "source_folder",
    "user_lock_path",
    "write_project_lock",
]

PROJECT_LOCK = "skills-lock.json"
USER_LOCK = ".skill-lock.json"
"""Below ``~/.agents``, or below ``$XDG_STATE_HOME/skills`` where that is set."""
PROJECT_VERSION = 1
USER_VERSION = 3
LOCAL = "local"
"""The source type of a folder on this machine."""
MAX_BYTES = 8 * 1024 * 1024
"""One lock file. An entry takes about 300 bytes."""

_CONFLICT = re.compile("^<{7} ", re.MULTILINE)


def read_project_lock(path: str) -> Lock:
    """Return a project's lock; an empty one when there is no file.

    Raises SkillIoError: the file cannot be read, is a link, is no lock (``lock_damaged``,
    ``lock_conflict``), has another version (``lock_version``), or names a path that leads out of
    its source (``lock_path_unsafe``).
    """
    return _read(path, path, PROJECT_VERSION)


def user_lock_path(environment: Mapping[str, str] | None = None) -> str:
    """Return where the installer keeps the user's lock, whether there is one or not."""
    environment = os.environ if environment is None else environment
    state = environment.get("XDG_STATE_HOME", "")
    if os.path.isabs(state):  # a relative one means nothing, as the base directory rules say
        return os.path.join(state, "skills", USER_LOCK)
    home = environment.get("HOME") or os.path.expanduser("~")
    return os.path.join(home, ".agents", USER_LOCK)


def read_user_lock(path: str) -> Lock:
    """Return the user's lock; an empty one when there is no file. A link is followed.

    Raises SkillIoError as :func:`read_project_lock` does. An older version is an error too: the
    installer takes such a file for an empty one, and here nothing is lost without a word.
    """
    return _read(os.path.realpath(path), path, USER_VERSION)


def _read(real: str, path: str, version: int) -> Lock:
    if not os.path.lexists(real):
        return Lock(version=version)
    data = read_file(real, MAX_BYTES, path).data
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _damaged(path, f"it is no UTF-8 at byte {error.start}") from None
    try:
        stored = parse(text)
    except ValueError as error:
        if _CONFLICT.search(text):
            raise _error(
                path,
                "lock_conflict",
                "it holds the marks of a merge conflict",
                "resolve the conflict: keep the entries of both sides",
            ) from None
        raise _damaged(path, str(error)) from None
    if not isinstance(stored, dict):
        raise _damaged(path, "it is no JSON object")
    _check_version(stored.pop("version", None), version, path)
    return _lock(stored, version, path)


def _lock(stored: dict[str, Json], version: int, path: str) -> Lock:
    entries = stored.pop("skills", None)
    if not isinstance(entries, dict):
        raise _damaged(path, "`skills` is no object")
    return Lock(
        [_skill(name, entry, path) for name, entry in entries.items()],
        version=version,
        extra=[(key, stringify(value)) for key, value in stored.items()],
    )


def _check_version(version: Json, expected: int, path: str) -> None:
    if type(version) is not int:
        raise _damaged(path, "`version` is no whole number")
    if version == expected:
        return
    age, hint = (
        ("older", "install its skills again; the installer would take the file for an empty one")
        if version < expected
        else ("newer", "update skillyard; the file is left as it is")
    )
    raise _error(
        path,
        "lock_version",
        f"it has version {version}, {age} than the {expected} known here",
        hint,
    )


def _skill(name: str, entry: Json, path: str) -> LockedSkill:
    if not isinstance(entry, dict):
        raise _damaged(path, f"the entry {name[:80]!a} is no object")
    fields: dict[str, Any] = {}
    extra = []
    for key, value in entry.items():
        if key not in FIELDS:
            extra.append((key, stringify(value)))
        elif isinstance(value, str):
            fields[FIELDS[key]] = value
        else:
            raise _damaged(path, f"`{key}` of the entry {name[:80]!a} is no text")
    for field in ("source", "source_type"):
        if field not in fields:
            raise _damaged(path, f"the entry {name[:80]!a} has no `{KEYS[field]}`")
    _check_skill_path(name, fields.get("skill_path"), path)
    return LockedSkill(name, extra=extra, order=entry, **fields)


def _check_skill_path(name: str, skill_path: str | None, path: str) -> None:
    """Refuse a path that leads out of the source; a lock comes with a clone, so it is hostile."""
    if not skill_path:
        return
    try:
        # Locks that were written on Windows may have backslashes; the installer reads both.
        checked_path(skill_path.replace("\\", "/"))
    except SkillError as error:
        raise _error(
            path,
            "lock_path_unsafe",
            f"`skillPath` of the entry {name[:80]!a} is refused: {error.message}",
            "remove the entry and install the skill again",
        ) from None


def _damaged(path: str, what: str) -> SkillIoError:
    return _error(
        path,
        "lock_damaged",
        what,
        "restore the file from version control, or move it away and install the skills again",
    )


def _error(path: str, code: str, what: str, hint: str) -> SkillIoError:
    return SkillIoError(f"the lock file is refused: {what}", path=path, code=code, hint=hint)


def render_project_lock(lock: Lock) -> str:
    """Return the text of a project's lock. Raises InvalidInput for a lock of another version."""
    if lock.version != PROJECT_VERSION:
        raise InvalidInput(f"a project's lock has version {PROJECT_VERSION}, not {lock.version}")
    stored: dict[str, Json] = {
        "version": lock.version,
        "skills": {skill.name: skill.to_json() for skill in lock.skills},
    }
    stored |= {key: parse(text) for key, text in lock.extra}
    return stringify(stored, indent=2) + "\n"


def portable_source(source: str, folder: str) -> str:
    """Return a local source as a project's lock has it: relative to the lock's folder, with ``./``.

    A relative source is taken to be relative to that folder already; a path of Windows that means
    nothing here is left as it is.
    """
    if os.sep == "/" and "\\" in source:
        return source
    relative = os.path.relpath(os.path.join(folder, source), folder).replace(os.sep, "/")
    if relative == ".":
        return "./"
    return relative if relative.startswith("../") or relative == ".." else f"./{relative}"


def source_folder(skill: LockedSkill, folder: str) -> str | None:
    """Return the folder that a local source means, for a lock in ``folder``; None for others.

    The lock may name any folder of this machine: it is data, and reading it is the user's choice.
    """
    if skill.source_type != LOCAL:
        return None
    return os.path.normpath(os.path.join(os.path.abspath(folder), skill.source))


def write_project_lock(path: str, lock: Lock) -> None:
    """Write a project's lock whole or not at all; local sources become portable.

    The new file is written beside the old one, synced and renamed, and has the old one's
    permission bits. Nothing is touched when the file says the same already. Raises SkillIoError
    when the file there is one that :func:`read_project_lock` refuses (so a damaged one is never
    lost), or when it cannot be written; InvalidInput for a lock of another version. Two programs
    that write at once: the last one's file stands.
    """
    folder = os.path.dirname(os.path.abspath(path))
    skills = [
        replace(skill, source=portable_source(skill.source, folder))
        if skill.source_type == LOCAL
        else skill
        for skill in lock.skills
    ]
    data = render_project_lock(replace(lock, skills=skills)).encode()
    read_project_lock(path)
    try:
        _replace_file(path, data)
    except OSError as error:
        raise SkillIoError(
            f"cannot write: {error.strerror or error}",
            path=path,
            code="lock_unwritable",
            hint="check the folder's permissions and its space",
        ) from None


def _replace_file(path: str, data: bytes) -> None:
    try:
        with open(path, "rb") as file:
            if file.read() == data:
                return
    except FileNotFoundError:
        pass
    atomic_write(path, data)
