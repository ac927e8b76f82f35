"""Compare the folders of a project with its lock file, without a network."""

from __future__ import annotations

from typing import NamedTuple

from skillyard.remote.install.accepted import Accepted, accepted_of, without_accepted
from skillyard.remote.install.lock_entries import LockedSkill
from skillyard.scanning import files_of_folder, scan_files
from skillyard.shapes import installation as shapes
from skillyard.shapes.encoder import from_attributes
from skillyard.usecases.installation.problems import Problem, problem_of_state
from skillyard.usecases.installation.project import CURRENT, LINKED, InstalledSkill, open_project

__all__ = ["Verified", "VerifiedSkill", "verify_skills"]

UNPINNED = "unpinned"
"""The folder has the installer's hash; the lock has no digest, which would be stronger."""


class VerifiedSkill(NamedTuple):
    """One skill of the lock."""

    name: str
    state: str
    """A state of ``project``, or ``unpinned``."""
    folders: tuple[str, ...]
    stale: tuple[Accepted, ...]
    """Accepted findings of the scan that no file has."""
    problem: Problem | None = None


class Verified(NamedTuple):
    """The state of all skills of a lock."""

    lock: str
    skills: tuple[VerifiedSkill, ...]
    extra: tuple[str, ...]
    """Skill folders that the lock does not name."""
    allow_extra: bool

    @property
    def differs(self) -> bool:
        """True where anything is not what the lock says."""
        if self.extra and not self.allow_extra:
            return True
        good = (CURRENT, LINKED, UNPINNED)
        return any(skill.state not in good or skill.stale for skill in self.skills)

    def document(self) -> shapes.Verified:
        """Return ``skillyard.verify/1``."""
        return shapes.Verified(
            lock=self.lock,
            skills=tuple(
                from_attributes(
                    shapes.VerifiedSkill,
                    skill,
                    stale=tuple(from_attributes(shapes.StaleAccepted, s) for s in skill.stale),
                    problem=skill.problem and skill.problem.document(),
                )
                for skill in self.skills
            ),
            extra=self.extra,
            differs=self.differs,
        )


def verify_skills(into: str | None = None, *, allow_extra: bool = False) -> Verified:
    """Return the state of each skill of the lock. Writes nothing.

    ``allow_extra`` accepts skill folders that the lock does not name. Raises SkillIoError for the
    lock file, InvalidInput.
    """
    project = open_project(into)
    skills = project.skills(project.lock.read())
    return Verified(
        project.lock.path,
        tuple(_verified(skill, project.lock.path) for skill in skills),
        tuple(project.extra(skills)),
        allow_extra,
    )


def _verified(skill: InstalledSkill, lock_path: str) -> VerifiedSkill:
    if skill.state == LINKED:
        return VerifiedSkill(skill.entry.name, LINKED, skill.folders, ())
    if skill.state != CURRENT:
        problem = problem_of_state(skill)
        return VerifiedSkill(skill.entry.name, skill.state, skill.folders, (), problem)
    state = CURRENT if skill.is_pinned else UNPINNED
    stale = _stale(skill.entry, skill.folders[0], lock_path)
    return VerifiedSkill(skill.entry.name, state, skill.folders, stale)


def _stale(entry: LockedSkill, folder: str, lock_path: str) -> tuple[Accepted, ...]:
    """Return what the entry accepts and the scan does not find. Raises SkillIoError."""
    accepted = accepted_of(entry, lock_path)
    if not accepted:
        return ()
    _, taken = without_accepted(scan_files(files_of_folder(folder)), accepted)
    return tuple(sorted(set(accepted) - {used for _, used in taken}))
