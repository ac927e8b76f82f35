"""Remove installed skills: their folders, the links to them, and their entries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from skillyard.base.errors import InvalidInput, SkillyardError
from skillyard.base.shapes.installation import Removed, RemovedFolder, RemovedSkill, SkillProblem
from skillyard.base.text import folder_name
from skillyard.install.copies.installed import forget_written
from skillyard.install.copies.placement import remove_copies
from skillyard.install.operations import states
from skillyard.install.operations.problems import failure_of, problem, problem_of_state
from skillyard.install.operations.project import (
    InstalledSkill,
    LockedProject,
    open_project,
    unchanged_check,
)
from skillyard.install.operations.update import entries_named


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
            results.append(_result(skill, states.REFUSED, problem=failure_of(error, skill)[1]))
    return Removed(lock=project.lock.path, dry_run=dry_run, skills=tuple(results))


def _result(
    skill: InstalledSkill,
    state: str,
    folders: Iterable[RemovedFolder] = (),
    links: Iterable[str] = (),
    problem: SkillProblem | None = None,
) -> RemovedSkill:
    """Return what became of a skill."""
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
    link = os.path.join(project.into, name) if project.into is not None else ""
    if link in skill.links and os.path.exists(link):
        if not dry_run:
            os.unlink(link)
            forget_written(link)
        return _result(skill, states.PLANNED if dry_run else states.UNLINKED, links=[link])
    if skill.state == states.LINKED:
        return _remove_links(skill, project, dry_run)
    if any(copy.is_foreign for copy in skill.copies):
        if not dry_run:
            lock.drop(entry.name)
        left = replace(problem_of_state(skill), hint="")
        return _result(skill, states.PLANNED if dry_run else states.REMOVED, problem=left)
    if skill.state not in (states.CURRENT, states.BEHIND, states.MISSING, states.REFUSED) and not (
        backup and skill.state in (states.EDITED, states.NOT_COMPARABLE)
    ):
        return _result(skill, states.REFUSED, problem=_problem(skill))
    if dry_run:
        copies = [copy for copy in skill.copies if not copy.is_users]
        folders = [RemovedFolder(folder=copy.folder, backup=None) for copy in copies]
        return _result(skill, states.PLANNED, folders, (*_linked(skill), *skill.links))
    links = _unlinked(skill)  # first: while the entry is there, a stopped run can be repeated
    removed = remove_copies(
        skill.into,
        entry,
        lock,
        backup=backup,
        check=unchanged_check(lock, entry),
        unlink=lambda: links.extend(project.unlink(name)),
    )
    reason = None if skill.copies else _no_folder(skill, project)
    return _result(skill, states.REMOVED, removed, links, reason)


def _no_folder(skill: InstalledSkill, project: LockedProject) -> SkillProblem:
    """Return what to say of a skill of which only the entry was there."""
    places = ", ".join(project.folders) or project.default
    return problem(
        "skill_missing",
        f"only its entry is removed: there is no folder of it in {places}",
        f"if --into installed it elsewhere, delete {folder_name(skill.entry.name)} there",
    )


def _remove_links(skill: InstalledSkill, project: LockedProject, dry_run: bool) -> RemovedSkill:
    """Remove the links to a folder of the user, which stays, and the entry.

    The links go first: an entry without a folder is one that is missing, and can be removed again.
    """
    if not dry_run:
        _unlinked(skill)
        project.lock.drop(skill.entry.name)
        project.unlink(folder_name(skill.entry.name))
    return _result(skill, states.PLANNED if dry_run else states.REMOVED, links=skill.folders)


def _linked(skill: InstalledSkill) -> list[str]:
    """Return the links to the folder of the user that the entry names."""
    return [copy.folder for copy in skill.copies if copy.is_users]


def _unlinked(skill: InstalledSkill) -> list[str]:
    """Remove these links, and return those that were there."""
    links = list(filter(os.path.islink, _linked(skill)))
    for link in links:
        os.unlink(link)
    return links


def _problem(skill: InstalledSkill) -> SkillProblem:
    reason = problem_of_state(skill)
    if skill.state not in (states.EDITED, states.NOT_COMPARABLE):
        return reason
    hint = "keep your changes elsewhere, or say --backup to have the folder moved aside"
    if skill.state == states.NOT_COMPARABLE:
        hint = f"{reason.hint}; or say --backup to have the folder moved aside"
    return replace(reason, hint=hint)
