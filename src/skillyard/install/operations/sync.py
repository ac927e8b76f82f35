"""Make the folders of a project what its lock file says."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from skillyard.base.errors import SkillyardError, SourceFailed
from skillyard.base.shapes.encoder import from_attributes
from skillyard.base.shapes.installation import LockAccepted, Synced, SyncedSkill
from skillyard.base.text import folder_name
from skillyard.install.copies.file_paths import name_in_shell
from skillyard.install.copies.installed import (
    Installed,
    manifest_at,
    note_installed,
    written_digest,
    written_files,
)
from skillyard.install.copies.verdict import accepted_of, check_accept
from skillyard.install.operations import states
from skillyard.install.operations.admission import admit, policy_of
from skillyard.install.operations.destinations import link_skill
from skillyard.install.operations.packages import ReportFetched, fetch_packages
from skillyard.install.operations.problems import (
    failure_of,
    problem,
    problem_of_state,
    with_option,
)
from skillyard.install.operations.project import (
    InstalledSkill,
    LockedProject,
    open_project,
    unchanged_check,
)
from skillyard.install.operations.verify import refusal_in_place
from skillyard.install.policy.decision import AdmissionPolicy
from skillyard.install.signatures import signer_of
from skillyard.install.sources.protocol import Package

PRESENT = (states.CURRENT, states.LINKED)
"""States in which there may be a link to it."""


def sync_skills(
    into: str | None = None,
    *,
    user: bool = False,
    agents: Sequence[str] = (),
    frozen: bool = False,
    dry_run: bool = False,
    allow_extra: bool = False,
    accept: Mapping[str, str] | None = None,
    report: ReportFetched | None = None,
) -> Synced:
    """Install the skills of the lock whose folders are missing, as the lock pins them.

    Folders with local changes and folders that the lock does not name are reported and left.
    ``frozen`` writes nothing, asks nobody, and makes every difference count (``allow_extra``: but
    for folders that the lock does not name), and what the policy refuses. ``user`` means the skills
    of the user. With ``agents`` a missing skill goes where ``add_skill`` puts it for these hosts,
    and one that lies where a host does not look gets a link there. ``accept`` is as in
    ``add_skill``. One skill that fails does not stop the others. Raises SkillIoError for the lock
    file and the policy, InvalidInput, and what ``destinations.agents_named`` raises.
    """
    reasons = check_accept(accept or {})
    project = open_project(into, user=user, agents=agents)
    compare = frozen or dry_run
    failures = {} if compare else project.complete()
    lock = project.lock.read()
    skills = project.skills(lock)
    if compare:
        policy = policy_of(project.lock) if frozen else None
        results = {each.entry.name: _compared(each, project, policy, frozen) for each in skills}
    else:
        _note_current(skills)
        lacking = [skill for skill in skills if _is_lacking(skill)]
        unlinked = [skill for skill in skills if skill.state in PRESENT and skill.lacking]
        packages = fetch_packages(lacking, project, pinned=True, report=report)
        results = {skill.entry.name: _synced(skill) for skill in skills}
        for skill in skills:
            failure = failures.get(folder_name(skill.entry.name))
            if skill.state == states.INTERRUPTED and failure is not None:
                _, reason = failure_of(failure, skill)
                results[skill.entry.name] = replace(_synced(skill), problem=reason)
        for skill in (*lacking, *unlinked):
            name = skill.entry.name
            results[name] = _install(skill, packages.get(name), project, reasons)
    extra = project.extra(lock)
    listed = tuple(results.values())
    return Synced(
        lock=project.lock.path,
        frozen=frozen,
        dry_run=dry_run,
        skills=listed,
        extra=extra,
        differs=bool(
            states.of(listed) - (states.GOOD if frozen else states.GOOD | {states.NOT_COMPARABLE})
            or (frozen and extra and not allow_extra)
        ),
    )


def _note_current(skills: list[InstalledSkill]) -> None:
    """Note what is as the lock says: the lock may be ahead of it the next time."""
    for skill in skills:
        places = [copy.folder for copy in skill.copies]
        for copy in skill.copies:
            digests = filter(None, (skill.entry.digest, skill.entry.executable_digest))
            is_noted = written_digest(copy.folder) == " ".join(digests)
            if copy.state != states.CURRENT or not skill.is_pinned:
                continue
            if is_noted and written_files(copy.folder):
                continue
            there = manifest_at(copy.folder)
            if there is not None and Installed.by(skill.entry).is_at(there, copy.folder):
                note_installed(copy.folder, there, places=places)


def _is_lacking(skill: InstalledSkill) -> bool:
    """True for a skill that is installed: not where it is missing since its source is gone."""
    return skill.state in (states.MISSING, states.BEHIND) and not skill.problem


def _synced(skill: InstalledSkill) -> SyncedSkill:
    """Return a skill as it is."""
    return SyncedSkill(
        name=skill.entry.name,
        state=skill.state,
        folders=skill.folders,
        pinned=skill.is_pinned,
        problem=None if skill.state in states.GOOD else problem_of_state(skill),
        accepted=(),
    )


def _compared(
    skill: InstalledSkill, project: LockedProject, policy: AdmissionPolicy | None, frozen: bool
) -> SyncedSkill:
    """Return a skill with what is wrong, or without ``frozen`` with what is planned."""
    result = _synced(skill)
    if refusal := refusal_in_place(skill, policy):
        return replace(result, state=states.REFUSED, problem=refusal)
    links = tuple(os.path.join(into, folder_name(skill.entry.name)) for into in skill.lacking)
    if _is_lacking(skill) and not frozen:
        return replace(result, state=states.PLANNED, problem=None, links=links)
    if skill.state not in PRESENT or not links:
        return result
    if not frozen:
        return replace(result, state=states.PLANNED, links=links)
    options = " ".join(f"--agent {agent.name}" for agent in project.agents)
    hint = with_option(f"`skillyard sync {options}` makes a link there", skill.option)
    reason = problem("skill_missing", "it is not where the agent looks", hint, links[0])
    return replace(result, state=states.MISSING, problem=reason, links=links)


def _install(
    skill: InstalledSkill,
    package: Package | SkillyardError | None,
    project: LockedProject,
    accept: Mapping[str, str],
) -> SyncedSkill:
    """Write one skill and the links to it; without a package only these. Never raises for it."""
    name, source = folder_name(skill.entry.name), skill.folders[0]
    result = replace(_synced(skill), state=states.INSTALLED, problem=None)
    try:
        if isinstance(package, SkillyardError):
            raise package
        for into in skill.lacking:  # before anything is written
            link_skill(source, into, name, dry_run=True)
        accepted = () if package is None else _write(skill, package, project, accept)
        links = [link_skill(source, into, name) for into in skill.lacking]
    except SkillyardError as error:
        state, reason = failure_of(error, skill)
        if isinstance(error, SourceFailed) and error.code == "not_found" and skill.entry.commit:
            newest = f"`skillyard update {name_in_shell(name)}` takes the newest version"
            hint = f"the commit may have been removed upstream; {newest}"
            reason = replace(reason, hint=with_option(hint, skill.option))
        return replace(result, state=state, problem=reason)
    return replace(result, accepted=accepted, links=tuple(links))


def _write(
    skill: InstalledSkill, package: Package, project: LockedProject, accept: Mapping[str, str]
) -> tuple[LockAccepted, ...]:
    """Write one skill; return the findings in it that the lock accepts.

    Raises SkillyardError.
    """
    entry, lock = skill.entry, project.lock
    admission = admit(entry, package, known=entry, lock=lock, accept=accept)
    # The entry stays as it is, byte for byte, unless a finding was accepted now, or it does not
    # say who signed it.
    by_lock = accepted_of(entry, lock.path)
    applied = accepted_of(admission.entry, lock.path)
    is_changed = set(applied) != set(by_lock) or signer_of(admission.entry) != signer_of(entry)
    check = unchanged_check(lock, entry, admission.entry)
    admission.write(skill.into, entry, lock, note=is_changed, check=check)
    return tuple(from_attributes(LockAccepted, each) for each in applied if each in by_lock)
