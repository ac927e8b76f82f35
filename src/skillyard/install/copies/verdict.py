"""The scan before ``add``: what stops an installation, and what the user accepted in the lock."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

from skillyard.base.errors import InvalidInput, UnknownName
from skillyard.base.shapes.details import ScanFinding
from skillyard.base.text import folder_name, plural
from skillyard.check.scanning import HIGH, RULES, files_of_folder, files_of_package, scan_files
from skillyard.check.scanning.engine import Accepted, without_accepted
from skillyard.install.copies.installed import InstallRefused
from skillyard.install.copies.lockfile import (
    Json,
    LockedSkill,
    project_lock_path,
    read_project_lock,
)

_NAMED = 12
"""Findings that a refusal names."""


class ScanVerdict(NamedTuple):
    """What the scan says of a fetched skill."""

    findings: tuple[ScanFinding, ...]
    """Those that nobody accepted."""
    accepted: tuple[Accepted, ...]
    """The entries that apply to its files, new and old ones."""
    severities: frozenset[str] = frozenset()
    """Severities of all findings, accepted ones too: a policy binds whoever accepts."""

    def check(self, name: str) -> None:
        """Raise InstallRefused when a finding is high."""
        high = [each for each in self.findings if each.severity == HIGH]
        if not high:
            return
        first = high[0]
        others = "".join(f"; {each.rule} in {each.path}:{each.line}" for each in high[1:_NAMED])
        more = f"; and {plural(len(high) - _NAMED, 'more finding')}" if len(high) > _NAMED else ""
        raise InstallRefused(
            f"{name} is not installed: {first.rule} in {first.path}:{first.line}"
            f" ({first.message}){others}{more}",
            path=f"{first.path}:{first.line}",
            code="install_scan",
            hint="read each of these files; if they are meant to do this, say"
            f" --accept {first.rule}=REASON, which accepts all findings of the rule",
        )


def check_accept(accept: Mapping[str, str]) -> Mapping[str, str]:
    """Return the reasons by rule. Raises UnknownName, and InvalidInput for an empty reason."""
    rules = [rule.id for rule in RULES]
    for rule, reason in accept.items():
        if rule not in rules:
            raise UnknownName("rule", rule, rules)
        if not reason.strip():
            raise InvalidInput(f"say why {rule} is accepted: --accept {rule}=REASON")
    return accept


_HOSTS_OF_MANY = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")


def publisher_of(source_type: str, source: str) -> str:
    """Return who publishes what an entry of a lock names: an owner, or the host of a site."""
    if source_type in ("local", "node_modules"):
        return ""
    address = urlsplit(source)
    host = address.hostname or ""
    owner = (address.path if host else source).strip("/").partition("/")[0]
    return owner if not host or host in _HOSTS_OF_MANY else host


def scan_package(
    files: Mapping[str, bytes],
    accepted: Iterable[Accepted] = (),
    accept: Mapping[str, str] | None = None,
    *,
    folder: str | None = None,
    publisher: str = "",
) -> ScanVerdict:
    """Scan fetched files. ``accepted`` is the lock's, ``accept`` gives reasons for rules now.

    Of a skill that is linked, all files of its ``folder`` are scanned.
    """
    listed = files_of_package(files) if folder is None else files_of_folder(folder)
    scan = scan_files(listed, publisher)
    left, taken = without_accepted(scan, accepted, accept)
    return ScanVerdict(
        tuple(left),
        tuple(sorted({entry for _, entry in taken})),
        frozenset(each.severity for each in scan),
    )


KEY = "scanAccepted"
"""The key of an entry with the findings that the user accepted: rule, digest of the file's content
and reason. The common installer preserves it. A file that changes is no longer accepted."""
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
    accepted = tuple(each for skill in skills for each in accepted_of(skill))
    publishers = {folder_name(s.name): publisher_of(s.source_type, s.source) for s in skills}
    return LockSays(place, accepted, publishers)


def accepted_of(skill: LockedSkill | None) -> tuple[Accepted, ...]:
    """Return what an entry of a lock accepts; what has another form accepts nothing."""
    listed = None if skill is None else skill.extra.get(KEY)
    accepted = []
    for each in listed if isinstance(listed, list) else ():
        members = [each.get(name) for name in _MEMBERS] if isinstance(each, dict) else []
        texts = [text for text in members if isinstance(text, str) and text.strip()]
        if len(texts) == len(_MEMBERS):
            accepted.append(Accepted(*texts))
    return tuple(accepted)


def with_accepted(skill: LockedSkill, accepted: Iterable[Accepted]) -> LockedSkill:
    """Return the entry with these accepted findings instead of others, sorted."""
    listed: list[Json] = [dict(each._asdict()) for each in sorted(set(accepted))]
    others = {key: value for key, value in skill.extra.items() if key != KEY}
    return replace(skill, extra={**others, KEY: listed} if listed else others)
