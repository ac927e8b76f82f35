"""Which installed skills have a newer version."""

from __future__ import annotations

from typing import NamedTuple

from skillyard.errors import InvalidInput, SkillyardError
from skillyard.remote.install.lock_entries import LockedSkill
from skillyard.remote.origins.locked import repinned
from skillyard.remote.sources.protocol import Package
from skillyard.remote.sources.settings import Settings
from skillyard.shapes import installation as shapes
from skillyard.shapes.encoder import from_attributes
from skillyard.usecases.installation.packages import ReportFetched, fetch_packages
from skillyard.usecases.installation.problems import Problem, is_unreachable, problem_of
from skillyard.usecases.installation.project import LINKED, InstalledSkill, open_project
from skillyard.usecases.installation.update import version_of

__all__ = ["Outdated", "SkillVersion", "outdated_skills"]

OUTDATED = "outdated"
REFUSED = "refused"
UNREACHABLE = "unreachable"
UNSUPPORTED = "unsupported"


class SkillVersion(NamedTuple):
    """One skill of the lock and its newest version."""

    name: str
    state: str
    """``outdated``, ``unreachable``, ``refused`` (its source does not have it, or is not asked),
    ``unsupported`` (a kind of source that has no versions here), else the state of its folders."""
    folder_state: str
    """What its folders are (a state of ``project``)."""
    ref: str
    """The branch or tag that it follows; empty for the default branch."""
    pinned: str
    newest: str = ""
    problem: Problem | None = None


class Outdated(NamedTuple):
    """The versions of all skills of a lock."""

    lock: str
    skills: tuple[SkillVersion, ...]

    @property
    def any_outdated(self) -> bool:
        """True where a skill has a newer version."""
        return any(skill.state == OUTDATED for skill in self.skills)

    @property
    def refused(self) -> bool:
        """True where asking again does not help: a skill is gone, or its source is not asked."""
        return any(skill.state == REFUSED for skill in self.skills)

    @property
    def unreached(self) -> bool:
        """True where a source could not be asked."""
        return any(skill.state == UNREACHABLE for skill in self.skills)

    def document(self) -> shapes.Outdated:
        """Return ``skillyard.outdated/1``."""
        return shapes.Outdated(
            lock=self.lock,
            skills=tuple(
                from_attributes(
                    shapes.SkillVersion,
                    skill,
                    ref=skill.ref or None,
                    pinned=skill.pinned or None,
                    newest=skill.newest or None,
                    problem=skill.problem and skill.problem.document(),
                )
                for skill in self.skills
            ),
        )


def outdated_skills(
    into: str | None = None,
    *,
    settings: Settings | None = None,
    report: ReportFetched | None = None,
) -> Outdated:
    """Ask for the newest version of each skill of the lock. Writes nothing.

    A newer commit that does not change the skill's files is none, and a linked skill has no newer
    version than its folder. Raises SkillIoError for the lock file, InvalidInput.
    """
    project = open_project(into)
    skills = project.skills(project.lock.read())
    fetched = [skill.entry for skill in skills if skill.state != LINKED]
    packages = iter(
        fetch_packages(
            fetched, pinned=False, folder=project.folder, settings=settings, report=report
        )
    )
    versions = [_version(each, None if each.state == LINKED else next(packages)) for each in skills]
    return Outdated(project.lock.path, tuple(versions))


def _version(skill: InstalledSkill, package: Package | SkillyardError | None) -> SkillVersion:
    """Return the version of a skill; ``package`` is None for a linked one."""
    entry = skill.entry
    version = SkillVersion(entry.name, skill.state, skill.state, entry.ref or "", version_of(entry))
    if package is None:
        return version
    if isinstance(package, SkillyardError):
        state = UNREACHABLE if is_unreachable(package) else REFUSED
        state = UNSUPPORTED if isinstance(package, InvalidInput) else state
        return version._replace(state=state, problem=problem_of(package))
    new = repinned(entry, package)
    if is_newer(entry, new):
        return version._replace(state=OUTDATED, newest=version_of(new))
    return version._replace(newest=version_of(entry) or version_of(new))


def is_newer(entry: LockedSkill, new: LockedSkill) -> bool:
    """True where the files of two entries of one skill differ."""
    if entry.digest is not None:
        return new.digest != entry.digest
    return new.computed_hash != entry.computed_hash
