"""Findings of the scan that the user accepted, in the lock file.

An entry of the lock has them under ``scanAccepted``, a key that the common installer preserves like
every key that it does not know. Each names a rule, the digest of the file's content and a reason.
A file that changes is no longer accepted, wherever it lies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from skillyard.errors import SkillIoError
from skillyard.remote.install.file_paths import name_in_shell
from skillyard.remote.install.javascript_json import Json, parse, stringify
from skillyard.remote.install.lock_entries import Lock, LockedSkill
from skillyard.scanning import Finding

__all__ = ["KEY", "Accepted", "accepted_in", "accepted_of", "with_accepted", "without_accepted"]

KEY = "scanAccepted"
_MEMBERS = ("rule", "digest", "reason")


class Accepted(NamedTuple):
    """One rule that does not apply to files of one content."""

    rule: str
    digest: str
    """``sha256:…`` of the file."""
    reason: str


def accepted_in(lock: Lock, path: str) -> tuple[Accepted, ...]:
    """Return what all entries of a lock accept. Raises SkillIoError for another form."""
    return tuple(each for skill in lock.skills for each in accepted_of(skill, path))


def accepted_of(skill: LockedSkill | None, path: str) -> tuple[Accepted, ...]:
    """Return what one entry of the lock at ``path`` accepts. Raises SkillIoError."""
    text = dict(skill.extra).get(KEY) if skill is not None else None
    if text is None:
        return ()
    listed = parse(text)
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
    others = [pair for pair in skill.extra if pair[0] != KEY]
    return replace(skill, extra=[*others, (KEY, stringify(listed))] if listed else others)


def without_accepted(
    findings: Iterable[Finding], accepted: Iterable[Accepted]
) -> tuple[list[Finding], list[tuple[Finding, Accepted]]]:
    """Return the findings that are not accepted, and those that are with their entries."""
    entries = {(each.rule, each.digest): each for each in accepted}
    left: list[Finding] = []
    taken: list[tuple[Finding, Accepted]] = []
    for finding in findings:
        entry = entries.get((finding.rule, finding.digest))
        if entry is None:
            left.append(finding)
        else:
            taken.append((finding, entry))
    return left, taken
