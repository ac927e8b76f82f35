"""Which installed skills have a newer version."""

from __future__ import annotations

from dataclasses import replace

from skillyard.base.errors import InvalidInput, SkillyardError
from skillyard.base.shapes.installation import LockedVersion, Outdated
from skillyard.check.scanning import files_of_folder, files_of_package
from skillyard.install.operations import states
from skillyard.install.operations.admission import check_signature, policy_of, refusal_of
from skillyard.install.operations.packages import ReportFetched, fetch_packages
from skillyard.install.operations.problems import failure_of, moved_to, problem_of_state
from skillyard.install.operations.project import InstalledSkill, open_project
from skillyard.install.operations.update import version_of
from skillyard.install.origins.locked import repinned
from skillyard.install.policy.decision import AdmissionPolicy
from skillyard.install.signatures.manifest import signer_of
from skillyard.install.sources.protocol import Package
from skillyard.install.sources.settings import Settings


def outdated_skills(
    into: str | None = None,
    *,
    user: bool = False,
    settings: Settings | None = None,
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
    packages = fetch_packages(fetched, project, pinned=False, settings=settings, report=report)
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
