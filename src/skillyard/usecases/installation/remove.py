"""Remove installed skills: their folders, the links to them, and their entries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from skillyard.errors import InvalidInput, SkillyardError
from skillyard.remote.install.lock_entries import folder_name
from skillyard.remote.install.removal import RemovedFolder, remove_copies
from skillyard.shapes import installation as shapes
from skillyard.shapes.encoder import from_attributes
from skillyard.usecases.installation.problems import Problem, problem_of, problem_of_state
from skillyard.usecases.installation.project import (
    BEHIND,
    CURRENT,
    EDITED,
    LINKED,
    MISSING,
    InstalledSkill,
    Project,
    changed_meanwhile,
    open_project,
)
from skillyard.usecases.installation.update import entries_named

__all__ = ["Removed", "RemovedSkill", "remove_skills"]

PLANNED = "planned"
REFUSED = "refused"
REMOVED = "removed"
UNLINKED = "unlinked"
"""Only the link in the named folder is gone: the skill lies elsewhere and stays."""


class RemovedSkill(NamedTuple):
    """One skill."""

    name: str
    state: str
    """``removed``, ``unlinked``, ``planned`` (with ``--dry-run``) or ``refused``."""
    folders: tuple[RemovedFolder, ...]
    links: tuple[str, ...] = ()
    """Links that are gone too."""
    problem: Problem | None = None


class Removed(NamedTuple):
    """The result for each skill."""

    lock: str
    skills: tuple[RemovedSkill, ...]
    dry_run: bool

    @property
    def refused(self) -> bool:
        """True where a skill was not removed."""
        return any(skill.state == REFUSED for skill in self.skills)

    def document(self) -> shapes.Removed:
        """Return ``skillyard.remove/1``."""
        return shapes.Removed(
            lock=self.lock,
            dry_run=self.dry_run,
            skills=tuple(
                from_attributes(
                    shapes.RemovedSkill,
                    skill,
                    folders=tuple(
                        shapes.RemovedFolder(folder=each.folder, backup=each.backup or None)
                        for each in skill.folders
                    ),
                    problem=skill.problem and skill.problem.document(),
                )
                for skill in self.skills
            ),
        )


def remove_skills(
    names: Sequence[str], into: str | None = None, *, backup: bool = False, dry_run: bool = False
) -> Removed:
    """Remove skills of the lock. One that is refused does not stop the others.

    A folder is removed only if it is exactly what was installed; with ``backup`` another one is
    moved to ``DIR-kept`` beside its folder of skills. Where ``into`` holds a link to the skill,
    only the link is removed. Raises UnknownName, InvalidInput, SkillIoError for the lock file.
    """
    if not names:
        raise InvalidInput("name a skill to remove")
    project = open_project(into)
    if not dry_run:
        project.complete()
    lock = project.lock.read()
    results = []
    for skill in project.skills(lock, entries_named(names, lock)):
        try:
            results.append(_remove(skill, project, backup, dry_run))
        except SkillyardError as error:
            results.append(RemovedSkill(skill.entry.name, REFUSED, (), (), problem_of(error)))
    return Removed(project.lock.path, tuple(results), dry_run)


def _remove(skill: InstalledSkill, project: Project, backup: bool, dry_run: bool) -> RemovedSkill:
    """Remove one skill. Raises InstallRefused, SkillIoError."""
    entry, lock = skill.entry, project.lock
    name = folder_name(entry.name)
    link = os.path.join(project.into, name) if project.into is not None else ""
    if link in skill.links and os.path.exists(link):
        if not dry_run:
            os.unlink(link)
        return RemovedSkill(entry.name, PLANNED if dry_run else UNLINKED, (), (link,))
    if skill.state == LINKED:
        return _remove_links(skill, project, dry_run)
    removable = {CURRENT, BEHIND, MISSING} | ({EDITED} if backup else set())
    if skill.state not in removable:
        return RemovedSkill(entry.name, REFUSED, (), (), _problem(skill))
    if dry_run:
        folders = tuple(RemovedFolder(copy.folder) for copy in skill.copies if copy.state != LINKED)
        return RemovedSkill(entry.name, PLANNED, folders, (*_linked(skill), *skill.links))

    def check() -> None:
        if lock.read().get(entry.name) != entry:
            raise changed_meanwhile(entry.name, lock)

    links = _unlinked(skill)  # first: while the entry is there, a stopped run can be repeated
    removed = remove_copies(
        skill.into,
        entry,
        lock,
        backup=backup,
        check=check,
        unlink=lambda: links.extend(project.unlink(name)),
    )
    problem = _no_folder(skill, project) if skill.state == MISSING else None
    return RemovedSkill(entry.name, REMOVED, tuple(removed), tuple(links), problem)


def _no_folder(skill: InstalledSkill, project: Project) -> Problem:
    """Return what to say of a skill of which only the entry was there."""
    places = ", ".join(project.folders) or project.default
    return Problem(
        "skill_missing",
        f"only its entry is removed: there is no folder of it in {places}",
        f"if --into installed it elsewhere, delete {folder_name(skill.entry.name)} there",
    )


def _remove_links(skill: InstalledSkill, project: Project, dry_run: bool) -> RemovedSkill:
    """Remove the links to a folder of the user, which stays, and the entry.

    The links go first: an entry without a folder is one that is missing, and can be removed again.
    """
    if not dry_run:
        _unlinked(skill)
        project.lock.drop(skill.entry.name)
    return RemovedSkill(skill.entry.name, PLANNED if dry_run else REMOVED, (), skill.folders)


def _linked(skill: InstalledSkill) -> list[str]:
    """Return the links to the folder of the user that the entry names."""
    return [copy.folder for copy in skill.copies if copy.state == LINKED]


def _unlinked(skill: InstalledSkill) -> list[str]:
    """Remove these links, and return those that were there."""
    links = list(filter(os.path.islink, _linked(skill)))
    for link in links:
        os.unlink(link)
    return links


def _problem(skill: InstalledSkill) -> Problem:
    problem = problem_of_state(skill)
    if skill.state != EDITED:
        return problem
    hint = "keep your changes elsewhere, or say --backup to have the folder moved aside"
    return problem._replace(hint=hint)
