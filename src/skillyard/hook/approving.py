"""Approving a project: read its skills as they are now, keep their digests, make their index."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.catalog import read_catalog
from skillyard.decisions.entry import moment
from skillyard.errors import InvalidSkillsRoot, SkillyardError
from skillyard.hook.approval import Unapprovable, content_of
from skillyard.hook.journal import forget
from skillyard.hook.library import library_place
from skillyard.hook.trust import Project, approve, project_at, projects, real_path, revoke
from skillyard.index.indexed_catalog import indexing_is_off, open_library_index
from skillyard.io.sha256 import sha256
from skillyard.skill import Origin

if TYPE_CHECKING:
    from skillyard.catalog.reading import Progress

__all__ = ["Approval", "approvals", "approve_project", "review_project", "revoke_project"]


class Approval(NamedTuple):
    """The approval of one project: what it holds, and what has changed by it."""

    project: str
    """Its real path."""
    state: str
    """``approved``, ``revoked`` or ``unknown``."""
    since: str | None
    """When, in UTC."""
    skills: tuple[str, ...]
    """Paths in the project."""
    added: tuple[str, ...] = ()
    """Of the skills, those that were not approved before; all of them the first time."""
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    """(path, why) of skills that cannot be approved."""
    there: bool = True
    """False when there is no such folder any more."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.trust/1``."""
        fields = self._asdict()
        fields["refused"] = [{"path": path, "why": why} for path, why in self.refused]
        return {"schema": "skillyard.trust/1", **fields}


def approve_project(folder: str, *, progress: Progress | None = None) -> Approval:
    """Approve every skill of a project as it is now. Raises InvalidSkillsRoot, SkillIoError.

    What was approved before is replaced.
    """
    path = real_path(folder)
    if not os.path.isdir(path):
        raise InvalidSkillsRoot("there is no such folder", path=folder, hint="check the path")
    before = project_at(path)
    skills, refused = _read(path, progress)
    now = approve(path, skills)
    forget(path)
    try:
        if not indexing_is_off():
            open_library_index(library_place((), path))
    except SkillyardError:
        pass  # the hook makes its index in the background as well
    return _compared(now, before.skills() if before is not None else {}, skills, refused)


def review_project(project: Project) -> Approval:
    """Compare an approved project with its files as they are now. Changes nothing.

    ``added``, ``changed`` and ``removed`` are what differs from the approval; the skills of the
    first two are not used until the project is approved again. Raises InvalidSkillsRoot.
    """
    return _compared(project, project.skills(), *_read(project.path, None))


def _compared(
    project: Project,
    known: dict[str, str],
    skills: dict[str, str],
    refused: list[tuple[str, str]],
) -> Approval:
    """Return what the digests of ``skills`` say beside the ones that were ``known``."""
    return Approval(
        project.path,
        "approved",
        moment(project.since),
        tuple(sorted(skills)),
        tuple(sorted(skills.keys() - known.keys())),
        tuple(sorted(p for p in skills.keys() & known.keys() if skills[p] != known[p])),
        tuple(sorted(known.keys() - skills.keys())),
        tuple(refused),
    )


def _read(path: str, progress: Progress | None) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the digests of a project's skills by path, and what cannot be approved and why."""
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
    """Take an approval back; the folder may be gone by now. Raises SkillIoError."""
    path = real_path(folder)
    state = "revoked" if revoke(path) else "unknown"
    forget(path)
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
