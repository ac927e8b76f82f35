"""``sync``, ``verify`` and ``remove``: the folders of a project and its lock file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from skillyard.base.errors import InvalidInput, SkillyardError, SourceFailed, io_errors
from skillyard.base.io.folder_manifest import manifest_of
from skillyard.base.shapes import installation as shapes
from skillyard.base.shapes.encoder import from_attributes
from skillyard.base.shapes.installation import (
    LockAccepted,
    Removed,
    RemovedFolder,
    RemovedSkill,
    SignatureState,
    SkillProblem,
    Synced,
    SyncedSkill,
    Verified,
    VerifiedSkill,
)
from skillyard.base.text import folder_name
from skillyard.check.scanning import files_of_folder
from skillyard.engine.resources import read_file
from skillyard.install.copies.file_paths import name_in_shell
from skillyard.install.copies.installed import (
    LIMITS,
    Installed,
    forget_written,
    manifest_at,
    note_installed,
    written_digest,
    written_files,
)
from skillyard.install.copies.placement import remove_copies
from skillyard.install.copies.verdict import accepted_of, check_accept
from skillyard.install.operations.admission import (
    ReportFetched,
    SignatureCheck,
    admit,
    fetch_packages,
    invalid_signature,
    other_signer,
    policy_of,
    refusal_of,
    verify_signature,
)
from skillyard.install.operations.destinations import link_skill
from skillyard.install.operations.problems import (
    GOOD,
    failure_of,
    problem,
    problem_of_state,
    states_of,
    with_option,
)
from skillyard.install.operations.project import (
    InstalledSkill,
    LockedProject,
    open_project,
    unchanged_check,
)
from skillyard.install.operations.update import entries_named
from skillyard.install.policy.decision import AdmissionPolicy, check_signer, locked_source
from skillyard.install.policy.rules import NO_RULES, CertificateSigner
from skillyard.install.signatures import FOLDER_BUNDLE, signer_of
from skillyard.install.sources.protocol import Package

PRESENT = ("current", "linked")
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
            if skill.state == "interrupted" and failure is not None:
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
            states_of(listed) - (GOOD if frozen else GOOD | {"not_comparable"})
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
            if copy.state != "current" or skill.entry.digest is None:
                continue
            if is_noted and written_files(copy.folder):
                continue
            there = manifest_at(copy.folder)
            if there is not None and Installed.by(skill.entry).is_at(there, copy.folder):
                note_installed(copy.folder, there, places=places)


def _is_lacking(skill: InstalledSkill) -> bool:
    """True for a skill that is installed: not where it is missing since its source is gone."""
    return skill.state in ("missing", "behind") and not skill.problem


def _synced(skill: InstalledSkill) -> SyncedSkill:
    return SyncedSkill(
        name=skill.entry.name,
        state=skill.state,
        folders=skill.folders,
        pinned=skill.entry.digest is not None,
        problem=None if skill.state in GOOD else problem_of_state(skill),
        accepted=(),
    )


def _compared(
    skill: InstalledSkill, project: LockedProject, policy: AdmissionPolicy | None, frozen: bool
) -> SyncedSkill:
    """Return a skill with what is wrong, or without ``frozen`` with what is planned."""
    result = _synced(skill)
    if refusal := refusal_in_place(skill, policy):
        return replace(result, state="refused", problem=refusal)
    links = tuple(os.path.join(into, folder_name(skill.entry.name)) for into in skill.lacking)
    if _is_lacking(skill) and not frozen:
        return replace(result, state="planned", problem=None, links=links)
    if skill.state not in PRESENT or not links:
        return result
    if not frozen:
        return replace(result, state="planned", links=links)
    options = " ".join(f"--agent {agent.name}" for agent in project.agents)
    hint = with_option(f"`skillyard sync {options}` makes a link there", skill.option)
    reason = problem("skill_missing", "it is not where the agent looks", hint, links[0])
    return replace(result, state="missing", problem=reason, links=links)


def _install(
    skill: InstalledSkill,
    package: Package | SkillyardError | None,
    project: LockedProject,
    accept: Mapping[str, str],
) -> SyncedSkill:
    """Write one skill and the links to it; without a package only these. Never raises for it."""
    name, source = folder_name(skill.entry.name), skill.folders[0]
    result = replace(_synced(skill), state="installed", problem=None)
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
    """Write one skill; return the findings in it that the lock accepts."""
    entry, lock = skill.entry, project.lock
    admission = admit(entry, package, known=entry, lock=lock, accept=accept)
    # The entry stays as it is, byte for byte, unless a finding was accepted now, or it does not
    # say who signed it.
    by_lock = accepted_of(entry)
    applied = accepted_of(admission.entry)
    is_changed = set(applied) != set(by_lock) or signer_of(admission.entry) != signer_of(entry)
    check = unchanged_check(lock, entry, admission.entry)
    admission.write(skill.into, entry, lock, note=is_changed, check=check)
    return tuple(from_attributes(LockAccepted, each) for each in applied if each in by_lock)


UNCHECKED = "signature_unchecked"
_STATES = {"signature_invalid": "invalid", UNCHECKED: "unchecked"}
"""States of a signature by the code of the error; any other is ``refused``."""


def verify_skills(
    into: str | None = None, *, user: bool = False, allow_extra: bool = False
) -> Verified:
    """Return the state of each skill of the lock, or of that of the user, and who signed it.

    Writes nothing. ``allow_extra`` accepts skill folders that the lock does not name. Raises
    SkillIoError for the lock file and the policy, InvalidInput.
    """
    project = open_project(into, user=user)
    policy = policy_of(project.lock)
    lock = project.lock.read()
    listed = tuple(_verified(each, policy) for each in project.skills(lock))
    extra = project.extra(lock)
    return Verified(
        lock=project.lock.path,
        skills=listed,
        extra=extra,
        differs=bool(
            states_of(listed) - GOOD
            or any(skill.problem for skill in listed)
            or (extra and not allow_extra)
        ),
    )


def _verified(skill: InstalledSkill, policy: AdmissionPolicy | None) -> VerifiedSkill:
    entry, folder, state = skill.entry, skill.folders[0], skill.state
    problem = None if state in GOOD else problem_of_state(skill)
    signature, signer = None, signer_of(entry)
    if state == "current":
        state = "unpinned" if skill.entry.digest is None else "current"
        signature, signer, problem = _signature(skill, folder, policy)
    if problem is None and state in ("current", "unpinned", "linked"):
        problem = refusal_of(skill, entry, files_of_folder(folder), policy, signer)
        state = state if problem is None else "refused"
    return VerifiedSkill(
        name=entry.name,
        state=state,
        folders=skill.folders,
        problem=problem,
        signature=signature,
    )


def refusal_in_place(skill: InstalledSkill, policy: AdmissionPolicy | None) -> SkillProblem | None:
    """Return why a policy refuses the folder of a skill that is as the lock says, or None."""
    if policy is None or skill.state not in ("current", "linked"):
        return None
    folder, signer, problem = skill.folders[0], signer_of(skill.entry), None
    if skill.state == "current" and policy.rules.checks_signatures:
        _, signer, problem = _signature(skill, folder, policy)
    return problem or refusal_of(skill, skill.entry, files_of_folder(folder), policy, signer)


def _signature(
    skill: InstalledSkill, folder: str, policy: AdmissionPolicy | None
) -> tuple[SignatureState | None, CertificateSigner | None, SkillProblem | None]:
    """Return the signature of a folder that is as the lock says, its signer, and what is wrong.

    The signature is None where neither the policy nor the lock asks for one.
    """
    rules = NO_RULES if policy is None else policy.rules
    entry = skill.entry
    signer = note = signer_of(entry)
    if note is None and not rules.checks_signatures:
        return None, None, None
    state, problem = ("unsigned" if note is None else "recorded"), None
    try:
        if (proof := verify_signature(entry.name, _installed(folder), rules)) is not None:
            signer, state = proof, "verified"
            if (check := SignatureCheck(proof, note)).change == "changed":
                raise other_signer(check)
        elif note is not None:
            raise invalid_signature(entry.name, f"{FOLDER_BUNDLE} is not in the folder")
        check_signer(policy, locked_source(entry, signer))
    except SkillyardError as error:
        reason = failure_of(error, skill)[1]
        if reason.code != UNCHECKED or rules.checks_signatures:
            state, problem = _STATES.get(reason.code, "refused"), reason
    shown = signer and from_attributes(shapes.Signer, signer)
    return SignatureState(state=state, signer=shown), signer, problem


def _installed(folder: str) -> Package:
    """Return every file of a folder that is as the lock says, as it was signed.

    ``local_package`` leaves out what is no part of a skill of the user's. Raises SkillIoError.
    """
    with io_errors("read", folder):
        files = manifest_of(folder, LIMITS).of_kind("file")
    data = {
        each.path: read_file(os.path.join(folder, *each.path.split("/")), each.size).data
        for each in files
    }
    return Package(data, folder)


def remove_skills(
    names: Sequence[str],
    into: str | None = None,
    *,
    user: bool = False,
    backup: bool = False,
    dry_run: bool = False,
) -> Removed:
    """Remove skills of the lock, or of that of the user. One that is refused stops no other.

    A folder is removed only if it is exactly what was installed; with ``backup`` another one is
    moved to ``DIR-kept`` beside its folder of skills. Where ``into`` holds a link to the skill,
    only the link is removed. Raises UnknownName, InvalidInput, SkillIoError for the lock file.
    """
    if not names:
        raise InvalidInput("name a skill to remove")
    project = open_project(into, user=user)
    if not dry_run:
        project.complete()
    lock = project.lock.read()
    results = []
    for skill in project.skills(lock, entries_named(names, lock)):
        try:
            results.append(_remove(skill, project, backup, dry_run))
        except SkillyardError as error:
            results.append(_result(skill, "refused", problem=failure_of(error, skill)[1]))
    return Removed(lock=project.lock.path, dry_run=dry_run, skills=tuple(results))


def _result(
    skill: InstalledSkill,
    state: str,
    folders: Iterable[RemovedFolder] = (),
    links: Iterable[str] = (),
    problem: SkillProblem | None = None,
) -> RemovedSkill:
    return RemovedSkill(
        name=skill.entry.name,
        state=state,
        folders=tuple(folders),
        links=tuple(links),
        problem=problem,
    )


def _remove(
    skill: InstalledSkill, project: LockedProject, backup: bool, dry_run: bool
) -> RemovedSkill:
    """Remove one skill. Raises InstallRefused, SkillIoError."""
    entry, lock = skill.entry, project.lock
    name = folder_name(entry.name)
    own = [copy.folder for copy in skill.copies if copy.is_users]  # links to a folder of the user
    link = os.path.join(project.into, name) if project.into is not None else ""
    if link in skill.links and os.path.exists(link):
        if not dry_run:
            os.unlink(link)
            forget_written(link)
        return _result(skill, "planned" if dry_run else "unlinked", links=[link])
    if any(copy.is_foreign for copy in skill.copies):
        if not dry_run:
            lock.drop(entry.name)
        left = replace(problem_of_state(skill), hint="")
        return _result(skill, "planned" if dry_run else "removed", problem=left)
    if skill.state not in ("current", "linked", "behind", "missing", "refused") and not (
        backup and skill.state in ("edited", "not_comparable")
    ):
        return _result(skill, "refused", problem=_problem(skill))
    if dry_run:
        copies = [copy for copy in skill.copies if not copy.is_users]
        folders = [RemovedFolder(folder=copy.folder, backup=None) for copy in copies]
        return _result(skill, "planned", folders, (*own, *skill.links))
    links = list(filter(os.path.islink, own))
    for each in links:  # first: while the entry is there, a stopped run can be repeated
        os.unlink(each)
    removed = remove_copies(
        skill.into,
        entry,
        lock,
        backup=backup,
        check=unchanged_check(lock, entry),
        unlink=lambda: links.extend(project.unlink(name)),
    )
    reason = None
    if not skill.copies:
        places = ", ".join(project.folders) or project.default
        what = f"only its entry is removed: there is no folder of it in {places}"
        hint = f"if --into installed it elsewhere, delete {name} there"
        reason = problem("skill_missing", what, hint)
    return _result(skill, "removed", removed, links, reason)


def _problem(skill: InstalledSkill) -> SkillProblem:
    reason = problem_of_state(skill)
    if skill.state not in ("edited", "not_comparable"):
        return reason
    hint = "keep your changes elsewhere, or say --backup to have the folder moved aside"
    if skill.state == "not_comparable":
        hint = f"{reason.hint}; or say --backup to have the folder moved aside"
    return replace(reason, hint=hint)
