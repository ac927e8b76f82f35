"""Compare the folders of a project with its lock file, without a network."""

from __future__ import annotations

from skillyard.policy.decision import Policy
from skillyard.remote.install.accepted import accepted_of, without_accepted
from skillyard.remote.install.lock_entries import LockedSkill
from skillyard.scanning import files_of_folder, scan_files
from skillyard.shapes.encoder import from_attributes
from skillyard.shapes.installation import StaleAccepted, Verified, VerifiedSkill
from skillyard.usecases.installation.policy_check import policy_of, refusal_of
from skillyard.usecases.installation.problems import problem_of_state
from skillyard.usecases.installation.project import InstalledSkill, open_project
from skillyard.usecases.installation.states import (
    CURRENT,
    GOOD,
    LINKED,
    REFUSED,
    UNPINNED,
    states_of,
)

__all__ = ["verify_skills"]


def verify_skills(
    into: str | None = None, *, user: bool = False, allow_extra: bool = False
) -> Verified:
    """Return the state of each skill of the lock, or of that of the user. Writes nothing.

    ``allow_extra`` accepts skill folders that the lock does not name. Raises SkillIoError for the
    lock file and the policy, InvalidInput.
    """
    project = open_project(into, user=user)
    policy = policy_of(project.lock)
    skills = project.skills(project.lock.read())
    listed = tuple(_verified(skill, project.lock.path, policy) for skill in skills)
    extra = tuple(project.extra(skills))
    is_stale = any(skill.stale for skill in listed)
    return Verified(
        lock=project.lock.path,
        skills=listed,
        extra=extra,
        differs=bool(states_of(listed) - GOOD or is_stale or (extra and not allow_extra)),
    )


def _verified(skill: InstalledSkill, lock_path: str, policy: Policy | None) -> VerifiedSkill:
    is_current = skill.state == CURRENT
    if is_current or skill.state == LINKED:
        refusal = refusal_of(skill.entry, files_of_folder(skill.folders[0]), policy)
        if refusal is not None:
            return VerifiedSkill(
                name=skill.entry.name,
                state=REFUSED,
                folders=skill.folders,
                stale=(),
                problem=refusal,
            )
    return VerifiedSkill(
        name=skill.entry.name,
        state=UNPINNED if is_current and not skill.is_pinned else skill.state,
        folders=skill.folders,
        stale=_stale(skill.entry, skill.folders[0], lock_path) if is_current else (),
        problem=None if skill.state in GOOD else problem_of_state(skill),
    )


def _stale(entry: LockedSkill, folder: str, lock_path: str) -> tuple[StaleAccepted, ...]:
    """Return what the entry accepts and the scan does not find. Raises SkillIoError."""
    accepted = accepted_of(entry, lock_path)
    if not accepted:
        return ()
    _, taken = without_accepted(scan_files(files_of_folder(folder)), accepted)
    stale = sorted(set(accepted) - {used for _, used in taken})
    return tuple(from_attributes(StaleAccepted, each) for each in stale)
