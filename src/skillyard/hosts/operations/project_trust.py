"""Approves the skills of a project for the prompt hook, after a scan of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.base.errors import InvalidInput, InvalidSkillsRoot, SkillyardError
from skillyard.base.io.files import sha256
from skillyard.base.io.processes import processors
from skillyard.base.shapes.hooks import Approval, Refusal
from skillyard.check.operations.skill_scan import Scanned, scan_skills
from skillyard.check.scanning.engine import Accepted
from skillyard.engine.catalog import read_catalog
from skillyard.engine.index.indexed_catalog import open_library_index
from skillyard.engine.skill import Origin
from skillyard.hosts.decisions.files import moment
from skillyard.hosts.hook import trust
from skillyard.hosts.hook.journal import forget_reports
from skillyard.hosts.hook.library import library_place
from skillyard.hosts.hook.skill_content import Unapprovable, content_of
from skillyard.install.copies.verdict import check_accept

if TYPE_CHECKING:
    from skillyard.engine.catalog.entries import Progress

_NOT_READ = ("not_scanned", "link_outside")
"""Findings on what was not read: their digest stays when the content changes, so each approval
accepts them anew."""


class TrustReview(NamedTuple):
    """The skills of a project as they were read, and what the scan says of them."""

    path: str
    """The real path of the project."""
    before: trust.Project
    """The approval in force; without skills where there is none."""
    digests: dict[str, str]
    """By the path of the skill in the project."""
    refused: list[Refusal]
    """Skills that cannot be approved."""
    scanned: Scanned

    def approve(self) -> Approval:
        """Approve the skills as they were read, with the accepted findings. Raises SkillIoError.

        Replaces an earlier approval.
        """
        accepted = {
            Accepted(each.finding.rule, each.finding.digest, each.reason)
            for each in self.scanned.accepted
        }
        project = trust.approve(self.path, self.digests, sorted(accepted))
        forget_reports(self.path)
        try:
            open_library_index(library_place((), self.path))
        except SkillyardError:
            pass  # the hook also builds the index in the background
        return self._approval(project, before=self.before.skills)

    def refuse(self) -> Approval:
        """Return what was read, and approve nothing. An earlier approval stays."""
        return self._approval(self.before, state="refused")

    def _approval(self, project: trust.Project, **more: Any) -> Approval:
        approval = _approval(project, self.digests, self.refused, **more)
        return replace(approval, findings=self.scanned.findings, accepted=self.scanned.accepted)


def review_trust(
    folder: str, accept: Mapping[str, str], *, progress: Progress | None = None
) -> TrustReview:
    """Read and scan the skills of a project. Writes nothing.

    ``accept`` gives reasons for rules of the scan; those of an earlier approval hold for unchanged
    files. A lock file of the project accepts nothing: its author wrote it. Raises
    InvalidSkillsRoot, UnknownName or InvalidInput for a wrong rule or an empty reason, and
    InvalidInput where there is no skill.
    """
    check_accept(accept)
    path = os.path.realpath(folder)
    if not os.path.isdir(path):
        raise InvalidSkillsRoot("there is no such folder", path=folder, hint="check the path")
    before = trust.project_at(path) or trust.Project(path)
    digests, refused = _digest_skills(path, progress)
    if not (digests or refused or before.since):
        raise InvalidInput(f"there is no skill to trust in {path}; `skillyard list` says why")
    scanned = scan_skills(
        [os.path.join(path, below) for below in sorted(digests)],
        load=lambda: read_catalog(folder),
        jobs=processors(),
        accepted=[e for e in map(Accepted._make, before.accepted) if e.rule not in _NOT_READ],
        reasons=accept,
    )
    return TrustReview(path, before, digests, refused, replace(scanned, lock="this approval"))


def review_project(project: trust.Project) -> Approval:
    """Compare an approved project with its current files. Writes nothing.

    ``added``, ``changed`` and ``removed`` are the differences from the approval. Added and changed
    skills are not used until the project is approved again. Raises InvalidSkillsRoot.
    """
    return _approval(project, *_digest_skills(project.path, None))


def revoke_project(folder: str) -> Approval:
    """Revoke an approval. The folder need not exist any more. Raises SkillIoError."""
    path = os.path.realpath(folder)
    state = "revoked" if trust.revoke(path) else "unknown"
    forget_reports(path)
    return _approval(trust.Project(path), state=state)


def approvals() -> list[Approval]:
    """Return every approved project, by path."""
    return [_approval(each) for each in trust.projects()]


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
            if sha256(content.data).hex() != skill.hash:
                raise Unapprovable("it was changed while it was read; approve again")
            skills[below] = content.digest
        except Unapprovable as error:
            refused.append(Refusal(path=below, why=str(error)))
        except OSError as error:
            refused.append(Refusal(path=below, why=f"cannot be read: {error.strerror}"))
    return skills, refused


def _approval(
    project: trust.Project,
    skills: Mapping[str, str] | None = None,
    refused: Iterable[Refusal] = (),
    *,
    before: Mapping[str, str] | None = None,
    state: str = "approved",
) -> Approval:
    """Return the approval, with the difference of the skills from those before."""
    before = project.skills if before is None else before
    skills = project.skills if skills is None else skills
    is_approved = state == "approved"
    changed = [below for below in skills.keys() & before.keys() if skills[below] != before[below]]
    return Approval(
        project=project.path,
        state=state,
        since=moment(project.since) if is_approved else None,
        skills=tuple(sorted(skills)) if is_approved else (),
        added=tuple(sorted(skills.keys() - before.keys())),
        changed=tuple(sorted(changed)),
        removed=tuple(sorted(before.keys() - skills.keys())),
        refused=tuple(refused),
        there=os.path.isdir(project.path),
        findings=(),
        accepted=(),
    )
