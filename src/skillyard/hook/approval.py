"""Approves a project: digests its skills, stores the digests, and builds the index."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.catalog import read_catalog
from skillyard.decisions.entry import moment
from skillyard.errors import InvalidSkillsRoot, SkillyardError
from skillyard.hook.journal import forget_reports
from skillyard.hook.library import library_place
from skillyard.hook.skill_content import Unapprovable, content_of
from skillyard.hook.trust import Project, approve, project_at, projects, real_path, revoke
from skillyard.index.indexed_catalog import indexing_is_off, open_library_index
from skillyard.io.sha256 import sha256
from skillyard.skill import Origin

if TYPE_CHECKING:
    from skillyard.catalog.entries import Progress

__all__ = ["Approval", "approvals", "approve_project", "review_project", "revoke_project"]


class Approval(NamedTuple):
    """The approval of one project, and its difference from the previous one."""

    project: str
    """The real path of the project."""
    state: str
    """``approved``, ``revoked`` or ``unknown``."""
    since: str | None
    """The time of the approval, in UTC."""
    skills: tuple[str, ...]
    """Paths in the project."""
    added: tuple[str, ...] = ()
    """Skills that were not approved before."""
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    """(path, reason) of skills that cannot be approved."""
    there: bool = True
    """False when the folder does not exist any more."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.trust/1``."""
        fields = self._asdict()
        fields["refused"] = [{"path": path, "why": why} for path, why in self.refused]
        return {"schema": "skillyard.trust/1", **fields}


def approve_project(folder: str, *, progress: Progress | None = None) -> Approval:
    """Approve the current content of every skill of a project. Replaces an earlier approval.

    Raises InvalidSkillsRoot, SkillIoError.
    """
    path = real_path(folder)
    if not os.path.isdir(path):
        raise InvalidSkillsRoot("there is no such folder", path=folder, hint="check the path")
    before = project_at(path)
    skills, refused = _digest_skills(path, progress)
    now = approve(path, skills)
    forget_reports(path)
    try:
        if not indexing_is_off():
            open_library_index(library_place((), path))
    except SkillyardError:
        pass  # the hook also builds the index in the background
    return _compare(now, before.skills() if before is not None else {}, skills, refused)


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
    refused: list[tuple[str, str]],
) -> Approval:
    """Return the approval with the difference between the digests ``before`` and ``skills``."""
    return Approval(
        project.path,
        "approved",
        moment(project.since),
        tuple(sorted(skills)),
        tuple(sorted(skills.keys() - before.keys())),
        tuple(sorted(p for p in skills.keys() & before.keys() if skills[p] != before[p])),
        tuple(sorted(before.keys() - skills.keys())),
        tuple(refused),
    )


def _digest_skills(
    path: str, progress: Progress | None
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the digests of a project's skills by path, and (path, reason) of refused ones."""
    skills: dict[str, str] = {}
    refused: list[tuple[str, str]] = []
    for skill in read_catalog(path, progress=progress):
        if skill.origin == Origin.CONVENTION:
            continue
        below = os.path.relpath(skill.path, path)
        try:
            content = content_of(skill.path, path)
            if sha256(content.data).hex() == skill.hash:
                skills[below] = content.digest
            else:
                refused.append((below, "it was changed while it was read; approve again"))
        except Unapprovable as why:
            refused.append((below, str(why)))
        except OSError as error:
            refused.append((below, f"cannot be read: {error.strerror}"))
    return skills, refused


def revoke_project(folder: str) -> Approval:
    """Revoke an approval. The folder need not exist any more. Raises SkillIoError."""
    path = real_path(folder)
    state = "revoked" if revoke(path) else "unknown"
    forget_reports(path)
    return Approval(path, state, None, (), there=os.path.isdir(path))


def approvals() -> list[Approval]:
    """Return every approved project, by path."""
    return [
        Approval(
            each.path,
            "approved",
            moment(each.since),
            tuple(sorted(each.skills())),
            there=os.path.isdir(each.path),
        )
        for each in projects()
    ]
