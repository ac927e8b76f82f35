"""Findings of the scan that the user accepted, in the lock file.

An entry of the lock has them under ``scanAccepted``, a key that the common installer preserves like
every key that it does not know. Each names a rule, the digest of the file's content and a reason.
A file that changes is no longer accepted, wherever it lies.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.check.scanning.accepted import Accepted
from skillyard.install.copies.file_paths import name_in_shell
from skillyard.install.copies.lock_entries import Json, LockedSkill
from skillyard.install.copies.lockfile import project_lock_path, read_project_lock

KEY = "scanAccepted"
_MEMBERS = ("rule", "digest", "reason")


def accepted_by_lock(path: str | None) -> tuple[str, tuple[Accepted, ...]]:
    """Return the path of a lock file, None: that of this project, and what its entries accept.

    Raises InvalidInput for a named one that does not exist, SkillIoError for a damaged one.
    """
    if path is not None and not os.path.lexists(path):
        raise InvalidInput(f"the lock file {path} does not exist")
    place = project_lock_path(".") if path is None else path
    skills = read_project_lock(place).skills
    return place, tuple(each for skill in skills for each in accepted_of(skill, place))


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
