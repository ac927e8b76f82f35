"""Approves a project: digests its skills, stores the digests, and builds the index."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.errors import InvalidSkillsRoot, SkillyardError
from skillyard.base.io.sha256 import sha256
from skillyard.base.shapes.hooks import Approval, Refusal
from skillyard.engine.catalog import read_catalog
from skillyard.engine.index.indexed_catalog import open_library_index
from skillyard.engine.skill import Origin
from skillyard.hosts.decisions.files import moment
from skillyard.hosts.hook.journal import forget_reports
from skillyard.hosts.hook.library import library_place
from skillyard.hosts.hook.skill_content import Unapprovable, content_of
from skillyard.hosts.hook.trust import Project, approve, project_at, projects, real_path, revoke

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillyard.engine.catalog.entries import Progress
    from skillyard.hosts.hook.trust import Accepted


class ProjectSkills(NamedTuple):
    """The skills of a project as they were read, to be approved."""

    path: str
    """The real path of the project."""
    before: Project | None
    digests: dict[str, str]
    """By the path of the skill in the project."""
    refused: list[Refusal]
    """Skills that cannot be approved."""


def read_project(folder: str, *, progress: Progress | None = None) -> ProjectSkills:
    """Read the skills of a project. Raises InvalidSkillsRoot."""
    path = real_path(folder)
    if not os.path.isdir(path):
        raise InvalidSkillsRoot("there is no such folder", path=folder, hint="check the path")
    return ProjectSkills(path, project_at(path), *_digest_skills(path, progress))


def approve_project(project: str | ProjectSkills, accepted: Sequence[Accepted] = ()) -> Approval:
    """Approve every skill of a project, as it was read or as it is now. Replaces an approval.

    ``accepted`` are findings of the scan, stored with it. Raises InvalidSkillsRoot, SkillIoError.
    """
    if isinstance(project, str):
        project = read_project(project)
    path, before, skills, refused = project
    now = approve(path, skills, accepted)
    forget_reports(path)
    try:
        open_library_index(library_place((), path))
    except SkillyardError:
        pass  # the hook also builds the index in the background
    return _compare(now, before.skills() if before is not None else {}, skills, refused)


def refused_approval(project: ProjectSkills) -> Approval:
    """Return what approving the project would change. Writes nothing."""
    path, before, skills, refused = project
    now = before or Project(path, 0.0, b"\n")
    compared = _compare(now, now.skills(), skills, refused)
    return replace(compared, state="refused", since=None, skills=())


def review_project(project: Project) -> Approval:
    """Compare an approved project with its current files. Writes nothing.

    ``added``, ``changed`` and ``removed`` are the differences from the approval. Added and changed
    skills are not used until the project is approved again. Raises InvalidSkillsRoot.
    """
    return _compare(project, project.skills(), *_digest_skills(project.path, None))


def _compare(
    project: Project,
    before: dict[str, str],
    skills: dict[str, str],
    refused: list[Refusal],
) -> Approval:
    """Return the approval with the difference between the digests ``before`` and ``skills``."""
    same_paths = skills.keys() & before.keys()
    return replace(
        _project_approval(project),
        skills=tuple(sorted(skills)),
        added=tuple(sorted(skills.keys() - before.keys())),
        changed=tuple(sorted(path for path in same_paths if skills[path] != before[path])),
        removed=tuple(sorted(before.keys() - skills.keys())),
        refused=tuple(refused),
        there=True,
    )


def _digest_skills(path: str, progress: Progress | None) -> tuple[dict[str, str], list[Refusal]]:
    """Return the digests of a project's skills by path, and those that cannot be approved."""
    skills: dict[str, str] = {}
    refused: list[Refusal] = []
    for skill in read_catalog(path, progress=progress):
        if skill.origin == Origin.CONVENTION:
            continue
        below = os.path.relpath(skill.path, path)
        try:
            content = content_of(skill.path, path)
            if sha256(content.data).hex() == skill.hash:
                skills[below] = content.digest
            else:
                why = "it was changed while it was read; approve again"
                refused.append(Refusal(path=below, why=why))
        except Unapprovable as error:
            refused.append(Refusal(path=below, why=str(error)))
        except OSError as error:
            refused.append(Refusal(path=below, why=f"cannot be read: {error.strerror}"))
    return skills, refused


def revoke_project(folder: str) -> Approval:
    """Revoke an approval. The folder need not exist any more. Raises SkillIoError."""
    path = real_path(folder)
    state = "revoked" if revoke(path) else "unknown"
    forget_reports(path)
    return _approval(path, state, None, ())


def approvals() -> list[Approval]:
    """Return every approved project, by path."""
    return [_project_approval(each) for each in projects()]


def _project_approval(project: Project) -> Approval:
    skills = tuple(sorted(project.skills()))
    return _approval(project.path, "approved", moment(project.since), skills)


def _approval(path: str, state: str, since: str | None, skills: tuple[str, ...]) -> Approval:
    """Return an approval without a difference."""
    return Approval(
        project=path,
        state=state,
        since=since,
        skills=skills,
        added=(),
        changed=(),
        removed=(),
        refused=(),
        there=os.path.isdir(path),
        findings=(),
        accepted=(),
    )
