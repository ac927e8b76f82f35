"""Find the newest version of installed skills, and take it after showing what it changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from skillyard.base.errors import InvalidInput, SkillyardError, UnknownName
from skillyard.base.io.sha256 import sha256
from skillyard.base.shapes.installation import (
    LockedVersion,
    Outdated,
    SkillUpdate,
    Updated,
)
from skillyard.base.text import folder_name
from skillyard.check.scanning import files_of_folder, files_of_package
from skillyard.install.copies.file_paths import shown_path
from skillyard.install.copies.installed import manifest_at, note_installed, with_lf
from skillyard.install.copies.lock_entries import Lock, LockedSkill
from skillyard.install.copies.lockfile import alone
from skillyard.install.copies.placement import move_to_backup
from skillyard.install.copies.verdict import check_accept
from skillyard.install.operations import states
from skillyard.install.operations.admission import (
    AdmittedSkill,
    admit,
    check_signature,
    checks_signatures,
    policy_of,
    refusal_of,
)
from skillyard.install.operations.difference import difference_of
from skillyard.install.operations.packages import ReportFetched, fetch_packages
from skillyard.install.operations.problems import failure_of, moved_to, problem, problem_of_state
from skillyard.install.operations.project import (
    InstalledSkill,
    LockedProject,
    open_project,
    unchanged_check,
)
from skillyard.install.origins.locked import repinned
from skillyard.install.policy.decision import AdmissionPolicy
from skillyard.install.signatures import signer_of
from skillyard.install.sources.protocol import Package

_FETCHED = (states.CURRENT, states.BEHIND, states.MISSING, states.NOT_COMPARABLE)
"""States of which the newest version is asked for."""


def update_skills(
    names: Iterable[str] = (),
    into: str | None = None,
    *,
    user: bool = False,
    confirm: Callable[[SkillUpdate], bool],
    accept: Mapping[str, str] | None = None,
    dry_run: bool = False,
    report: ReportFetched | None = None,
) -> Updated:
    """Replace skills by the newest of their branch or tag; all of the lock without names.

    ``user`` means the skills of the user. ``confirm`` is called with each newer version and decides
    whether it is taken. A missing skill is installed in its newest version. A skill with local
    changes, or with a high finding of the scan that nobody accepted, is refused. One skill that
    fails does not stop the others. ``accept`` is as in ``add_skill``. Raises UnknownName,
    SkillIoError for the lock file, InvalidInput.
    """
    reasons = check_accept(accept or {})
    project = open_project(into, user=user)
    if not dry_run:
        project.complete()
    lock = project.lock.read()
    names = list(names)
    extra = project.extra(lock)
    skills = project.skills(lock, entries_named(names, lock))
    fetched = [skill for skill in skills if skill.state in _FETCHED]
    newest = fetch_packages(fetched, project, pinned=False, report=report)
    results = []
    for skill in skills:
        name = skill.entry.name
        if name in newest:
            taken = None if dry_run else confirm
            results.append(_update(skill, newest[name], project, reasons, taken))
        else:
            reason = None if skill.state == states.LINKED else problem_of_state(skill)
            results.append(replace(_unchanged(skill), problem=reason))
    return Updated(
        lock=project.lock.path,
        dry_run=dry_run,
        skills=tuple(results),
        extra=() if names else extra,
    )


def entries_named(names: Iterable[str], lock: Lock) -> list[LockedSkill]:
    """Return the entries of the names, each once, or all without names. Raises UnknownName.

    A name is that of an entry, or exactly that of its folder; one in another script may be either.
    """
    entries: dict[str, LockedSkill] = {}
    for name in names:
        folder = folder_name(name)
        is_folder = folder == name or not name.isascii()
        entry = lock.get(name) or (lock.in_folder(folder) if is_folder else None)
        if entry is None:
            raise UnknownName("skill of the lock file", name, [each.name for each in lock.skills])
        entries[entry.name] = entry
    return list(entries.values() or lock.skills)


def version_of(entry: LockedSkill) -> str | None:
    """Return the commit of an entry, else its digest, else None."""
    return entry.commit or entry.digest or None


def _unchanged(skill: InstalledSkill) -> SkillUpdate:
    return SkillUpdate(
        name=skill.entry.name,
        state=skill.state,
        folders=skill.folders,
        pinned=version_of(skill.entry),
        newest=None,
        difference=None,
        signature=None,
        problem=None,
    )


def _update(
    skill: InstalledSkill,
    package: Package | SkillyardError,
    project: LockedProject,
    accept: Mapping[str, str],
    confirm: Callable[[SkillUpdate], bool] | None,
) -> SkillUpdate:
    """Show and take one version; without ``confirm`` only show it. Never raises for the skill."""
    entry = skill.entry
    result = replace(_unchanged(skill), state=states.CURRENT)
    try:
        if isinstance(package, SkillyardError):
            raise package
        new = repinned(entry, package)
        moved_there = moved_to(skill, new)
        result = replace(result, newest=version_of(new))
        is_same = entry.digest and entry.pins_same(new) and moved_there is None
        if is_same and skill.state == states.CURRENT:
            admission = _admit_signer(skill, package, project, accept)
            if admission is None or admission.entry.to_json() == entry.to_json():
                return result
            result = replace(
                result, state=states.AVAILABLE, signature=admission.signature.document()
            )
            is_lost = admission.signature.change == "lost"
            if is_lost:  # shown as every other change, of no files
                result = replace(result, difference=difference_of(skill.folders[0], package))
            if confirm is None or (is_lost and not confirm(result)):
                return result
            _write(skill, admission, project)
            return replace(result, state=states.PINNED)
        difference = difference_of(skill.folders[0], package)
        result = replace(result, state=states.AVAILABLE, difference=difference, problem=moved_there)
        admission = admit(new, package, known=entry, lock=project.lock, accept=accept)
        result = replace(result, signature=admission.signature.document())
        if confirm is None or not confirm(result):
            return result
        if skill.state != states.NOT_COMPARABLE:
            same = _write(skill, admission, project)
        else:
            same, backups = _take_over(skill, admission, project)
            if backups:
                what = f"what was there may have local changes, and is now in {backups}"
                result = replace(result, problem=problem(f"skill_{skill.state}", what))
        return replace(result, state=states.PINNED if same else states.UPDATED)
    except SkillyardError as error:
        state, reason = failure_of(error, skill)
        return replace(result, state=state, problem=reason)
    except OSError as error:
        reason = problem("io_error", str(error.strerror or error), path=str(error.filename or ""))
        return replace(result, state=states.REFUSED, problem=reason)


def _admit_signer(
    skill: InstalledSkill, package: Package, project: LockedProject, accept: Mapping[str, str]
) -> AdmittedSkill | None:
    """Return the admission of what is installed, with who signed it.

    A signer in the lock is only its word, which anybody who may commit can write. None where the
    policy does not ask. Raises what ``admit`` raises.
    """
    entry = skill.entry
    if not checks_signatures(project.folder):
        return None
    return admit(entry, package, known=entry, lock=project.lock, accept=accept)


def _take_over(
    skill: InstalledSkill, admission: AdmittedSkill, project: LockedProject
) -> tuple[bool, str]:
    """Write a version over folders of the installer; return as ``_write`` and where backups are.

    A folder with anything that is not of the version is moved to a backup. Raises InstallRefused,
    SkillIoError, OSError.
    """
    name, files = folder_name(skill.entry.name), admission.package.files
    known = {sha256(data).hex() for data in files.values()}
    moved: dict[str, str] = {}
    places = [copy.folder for copy in skill.copies]
    try:
        with alone(*skill.into):
            for copy in skill.copies:
                there = None if copy.is_users else manifest_at(copy.folder)
                if there is None:
                    continue
                tidy = there.without_litter()
                digests = {with_lf(each, copy.folder).digest for each in tidy.of_kind("file")}
                if tidy.beside_files() or digests - known:
                    moved[copy.folder] = move_to_backup(copy.folder, copy.into, name)
                else:
                    note_installed(copy.folder, there, places=places)
        same = _write(skill, admission, project, known=admission.entry)
    except BaseException:
        for folder, backup in moved.items():
            if not os.path.lexists(folder):
                os.rename(backup, folder)
        raise
    return same, ", ".join(map(shown_path, moved.values()))


def _write(
    skill: InstalledSkill,
    admission: AdmittedSkill,
    project: LockedProject,
    *,
    known: LockedSkill | None = None,
) -> bool:
    """Write a version to every folder of a skill and note it; True if all had its files already.

    ``known`` is the entry by which they were installed (default: that of the lock). Raises
    InstallRefused, SkillIoError.
    """
    entry, lock = skill.entry, project.lock
    check = unchanged_check(lock, entry, admission.entry)
    placed = admission.write(skill.into, known or entry, lock, check=check)
    same = all(each.state in ("unchanged", "restored") for each in placed)
    if same:
        lock.note(admission.entry)
    return same


def outdated_skills(
    into: str | None = None,
    *,
    user: bool = False,
    report: ReportFetched | None = None,
) -> Outdated:
    """Ask for the newest version of each skill of the lock, or of that of the user.

    Writes nothing. A newer commit that does not change the skill's files is none, and a linked
    skill has no newer version than its folder. The policy may refuse both. Raises SkillIoError for
    the lock file and the policy, InvalidInput.
    """
    project = open_project(into, user=user)
    policy = policy_of(project.lock)
    skills = project.skills(project.lock.read())
    fetched = [skill for skill in skills if skill.state not in (states.LINKED, states.REFUSED)]
    packages = fetch_packages(fetched, project, pinned=False, report=report)
    versions = [_version(skill, packages.get(skill.entry.name), policy) for skill in skills]
    return Outdated(lock=project.lock.path, skills=tuple(versions))


def _version(
    skill: InstalledSkill, package: Package | SkillyardError | None, policy: AdmissionPolicy | None
) -> LockedVersion:
    """Return the version of a skill; ``package`` is None for a linked one."""
    entry = skill.entry
    version = LockedVersion(
        name=entry.name,
        state=skill.state,
        folder_state=skill.state,
        ref=entry.ref or None,
        pinned=version_of(entry),
        newest=None,
        problem=None,
    )
    if package is None and skill.state == states.REFUSED:
        return replace(version, problem=problem_of_state(skill))
    if package is None:
        files = files_of_folder(skill.folders[0])
        refusal = refusal_of(skill, entry, files, policy, signer_of(entry))
        return (
            version if refusal is None else replace(version, state=states.REFUSED, problem=refusal)
        )
    if isinstance(package, SkillyardError):
        state, problem = failure_of(package, skill)
        state = states.UNSUPPORTED if isinstance(package, InvalidInput) else state
        return replace(version, state=state, problem=problem)
    new = repinned(entry, package)
    try:
        signature = check_signature(new, package, entry, policy)
    except SkillyardError as error:
        refusal = failure_of(error, skill)[1]
    else:
        refusal = refusal_of(skill, new, files_of_package(package.files), policy, signature.signer)
    if refusal is not None:
        return replace(version, state=states.REFUSED, newest=version_of(new), problem=refusal)
    moved = moved_to(skill, new)
    if moved is not None:
        return replace(version, state=states.MOVED, newest=version_of(new), problem=moved)
    hashes = (entry.content_hash, new.content_hash)
    if skill.state == states.NOT_COMPARABLE and None in hashes:  # nothing says which version it is
        return replace(version, newest=version_of(new), problem=problem_of_state(skill))
    if not entry.pins_same(new):
        return replace(version, state=states.OUTDATED, newest=version_of(new))
    return replace(version, newest=version_of(entry) or version_of(new))
