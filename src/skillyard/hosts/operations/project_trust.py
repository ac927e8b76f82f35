"""Approves the skills of a project for the prompt hook, after a scan of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.base.io.processes import processors
from skillyard.check.operations.skill_scan import Scanned, scan_skills
from skillyard.check.scanning.engine import Accepted
from skillyard.engine.catalog import read_catalog
from skillyard.hosts.hook.approval import (
    ProjectSkills,
    approve_project,
    read_project,
    refused_approval,
)
from skillyard.install.copies.verdict import check_accept

if TYPE_CHECKING:
    from skillyard.base.shapes.hooks import Approval
    from skillyard.engine.catalog.entries import Progress

_NOT_READ = ("not_scanned", "link_outside")
"""Findings on what was not read: their digest stays when the content changes, so each approval
accepts them anew."""


class TrustReview(NamedTuple):
    """The skills of a project, and what the scan says of them."""

    skills: ProjectSkills
    scanned: Scanned

    def approve(self) -> Approval:
        """Approve the skills as they were read, with the accepted findings. Raises SkillIoError."""
        accepted = sorted(
            {
                Accepted(each.finding.rule, each.finding.digest, each.reason)
                for each in self.scanned.accepted
            }
        )
        return self._with_findings(approve_project(self.skills, accepted))

    def refuse(self) -> Approval:
        """Return what was read, and approve nothing. An earlier approval stays."""
        return self._with_findings(refused_approval(self.skills))

    def _with_findings(self, approval: Approval) -> Approval:
        scanned = self.scanned
        return replace(approval, findings=scanned.findings, accepted=scanned.accepted)


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
    skills = read_project(folder, progress=progress)
    if not (skills.digests or skills.refused or skills.before):
        raise InvalidInput(
            f"there is no skill to trust in {skills.path}; `skillyard list` says why"
        )
    known = () if skills.before is None else skills.before.accepted
    scanned = scan_skills(
        [os.path.join(skills.path, below) for below in sorted(skills.digests)],
        load=lambda: read_catalog(folder),
        jobs=processors(),
        accepted=[entry for entry in map(Accepted._make, known) if entry.rule not in _NOT_READ],
        reasons=accept,
    )
    return TrustReview(skills, replace(scanned, lock="this approval"))
