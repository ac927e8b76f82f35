"""Findings of the scan that the user accepted, in the lock file.

An entry of the lock has them under ``scanAccepted``, a key that the common installer preserves like
every key that it does not know. Each names a rule, the digest of the file's content and a reason.
A file that changes is no longer accepted, wherever it lies.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.text import folder_name
from skillyard.check.scanning.accepted import Accepted
from skillyard.install.copies.file_paths import name_in_shell
from skillyard.install.copies.lock_entries import Json, LockedSkill
from skillyard.install.copies.lockfile import project_lock_path, read_project_lock
from skillyard.install.copies.verdict import publisher_of

KEY = "scanAccepted"
_MEMBERS = ("rule", "digest", "reason")


class LockSays(NamedTuple):
    """What a lock file says to a scan."""

    path: str
    accepted: tuple[Accepted, ...]
    publishers: Mapping[str, str]
    """Name of a skill's folder -> who publishes it."""


def lock_for_scan(path: str | None) -> LockSays:
    """Return what the lock file at a path says, None: that of this project.

    Raises InvalidInput for a named one that does not exist, SkillIoError for a damaged one.
    """
    if path is not None and not os.path.lexists(path):
        raise InvalidInput(f"the lock file {path} does not exist")
    place = project_lock_path(".") if path is None else path
    skills = read_project_lock(place).skills
    accepted = tuple(each for skill in skills for each in accepted_of(skill, place))
    publishers = {folder_name(s.name): publisher_of(s.source_type, s.source) for s in skills}
    return LockSays(place, accepted, publishers)


def accepted_of(skill: LockedSkill | None, path: str) -> tuple[Accepted, ...]:
    """Return what one entry of the lock at ``path`` accepts. Raises SkillIoError."""
    if skill is None or KEY not in skill.extra:
        return ()
    listed = skill.extra[KEY]
    if not isinstance(listed, list):
        raise _damaged(path, skill)
    return tuple(_accepted(each, path, skill) for each in listed)


def _accepted(value: Json, path: str, skill: LockedSkill | None) -> Accepted:
    members = [value.get(name) for name in _MEMBERS] if isinstance(value, dict) else []
    texts = [each for each in members if isinstance(each, str) and each.strip()]
    if len(texts) != len(_MEMBERS):
        raise _damaged(path, skill)
    return Accepted(*texts)


def _damaged(path: str, skill: LockedSkill | None) -> SkillIoError:
    name = "" if skill is None else skill.name
    return SkillIoError(
        f"the lock file is refused: `{KEY}` of the entry {name[:80]!a} is no list of rule,"
        " digest and reason",
        path=path,
        code="lock_damaged",
        hint=f"`skillyard remove {name_in_shell(name)}`, then add it and accept its findings again",
    )


def with_accepted(skill: LockedSkill, accepted: Iterable[Accepted]) -> LockedSkill:
    """Return the entry with these accepted findings instead of others, sorted."""
    listed: list[Json] = [dict(each._asdict()) for each in sorted(set(accepted))]
    others = {key: value for key, value in skill.extra.items() if key != KEY}
    return replace(skill, extra={**others, KEY: listed} if listed else others)
