"""Restricts the library of a hook to the files of a project that the user has approved.

Unapproved files are removed before names are resolved and terms are counted. A file that is added
to a project can therefore neither shadow nor outrank an approved skill or one of the user's own.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.base.io.files import is_below
from skillyard.base.io.processes import shell_command
from skillyard.engine.catalog.roots import real_root
from skillyard.engine.skill import Origin
from skillyard.hosts.hook.trust import project_at

if TYPE_CHECKING:
    from skillyard.engine.discovery.layout import Scan
    from skillyard.hosts.hook.skill_content import Content
    from skillyard.hosts.hook.trust import Project

CODE = "not_approved"
"""The code of the diagnostics about unapproved skills."""


class NotApproved(Exception):
    """A skill is not used. The message is the reason, without the path."""


class ApprovedSkills(NamedTuple):
    """Admits the approved skills of a project, and all skills outside of it."""

    project: str
    """The real path of the project."""
    roots: tuple[str, ...]
    """Libraries that the user named, and thereby trusts."""

    @property
    def key(self) -> str:
        """The text that distinguishes this index from other indexes of the same roots."""
        return f"approved in {self.project}"

    def resolve(self) -> ApprovedSkills:
        """Return a copy with the real paths of the libraries."""
        return self._replace(roots=tuple(map(real_root, self.roots)))

    def filter_scan(self, scan: Scan) -> Scan:
        """Return the scan without files of the project that are unapproved or have changed."""
        approved = project_at(self.project)
        command = shell_command(["skillyard", "trust", self.project])
        candidates, diagnostics = [], list(scan.diagnostics)
        for candidate in scan.candidates:
            if not needs_approval(candidate.path, candidate.scope, self.roots):
                candidates.append(candidate)
            elif candidate.origin != Origin.CONVENTION:
                try:
                    approved_content(approved, candidate.path)
                except NotApproved as why:
                    what = f"the skill {why}"
                    hint = f"look at it, then: {command}"
                    diagnostics.append(Diagnostic(CODE, "warning", candidate.path, what, hint))
                except OSError:
                    continue  # removed meanwhile
                else:
                    candidates.append(candidate)
        return scan._replace(candidates=tuple(candidates), diagnostics=tuple(diagnostics))


def needs_approval(path: str, scope: str, roots: tuple[str, ...]) -> bool:
    """Return False for the user's own skills and for those of named libraries."""
    return scope != "user" and not any(is_below(path, root) for root in roots)


def approved_content(project: Project | None, path: str) -> Content:
    """Return the approved content of the skill at a path.

    Raises NotApproved when the content is another one, and OSError when it cannot be read.
    """
    from skillyard.hosts.hook.skill_content import Unapprovable, content_of  # for projects only

    digest = None if project is None else project.skills.get(os.path.relpath(path, project.path))
    if project is None or digest is None:
        raise NotApproved("is not approved")
    try:
        content = content_of(path, project.path)
    except Unapprovable as why:
        raise NotApproved(f"has changed since it was approved: {why}") from None
    if content.digest != digest:
        raise NotApproved("has changed since it was approved")
    return content
