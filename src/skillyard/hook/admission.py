"""Which files a hook's library is made of: of a project only what its user has approved.

What nobody approved is left out before names are settled and words are counted, so that a file that
somebody adds to a project can neither take the name of an approved skill or of the user's own, nor
outrank it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skillyard.errors import Diagnostic
from skillyard.hook.trust import project_at
from skillyard.index.library_spec import real_root
from skillyard.io.paths import is_below
from skillyard.skill import Origin

if TYPE_CHECKING:
    from skillyard.discovery import Scan
    from skillyard.hook.approval import Content
    from skillyard.hook.trust import Project

__all__ = ["CODE", "ApprovedSkills", "NotApproved", "approved_content", "needs_approval"]

CODE = "not_approved"
"""Of the diagnostics that name what was left out."""


class NotApproved(Exception):
    """A skill is not used; the message says why, without its path."""


class ApprovedSkills(NamedTuple):
    """Admits a project's approved skills, and whatever lies elsewhere."""

    project: str
    """Its real path."""
    roots: tuple[str, ...]
    """Libraries that the user named: whoever names one trusts it."""

    @property
    def key(self) -> str:
        """What tells this index from others of the same roots."""
        return f"approved in {self.project}"

    def resolved(self) -> ApprovedSkills:
        """Return the same with the libraries named where they lead, as an index is made."""
        return self._replace(roots=tuple(map(real_root, self.roots)))

    def admitted(self, found: Scan) -> Scan:
        """Return the scan without the project's files that are not approved as they are now."""
        approved = project_at(self.project)
        candidates, diagnostics = [], list(found.diagnostics)
        for candidate in found.candidates:
            if not needs_approval(candidate.path, candidate.scope, self.roots):
                candidates.append(candidate)
            elif candidate.origin != Origin.CONVENTION:
                try:
                    approved_content(approved, candidate.path)
                except NotApproved as why:
                    what = f"the skill {why}"
                    hint = f"look at it, then: skillyard trust {self.project}"
                    diagnostics.append(Diagnostic(CODE, "warning", candidate.path, what, hint))
                except OSError:
                    continue  # it went away meanwhile
                else:
                    candidates.append(candidate)
        return found._replace(candidates=tuple(candidates), diagnostics=tuple(diagnostics))


def needs_approval(path: str, scope: str, roots: tuple[str, ...]) -> bool:
    """Return False for the user's own skills and for those of libraries that were named."""
    return scope != "user" and not any(is_below(path, root) for root in roots)


def approved_content(project: Project | None, path: str) -> Content:
    """Return the content of the skill at a path, which is the approved one.

    Raises NotApproved, and OSError for a skill that is gone or cannot be read.
    """
    from skillyard.hook.approval import Unapprovable, content_of  # only for a project's skills

    if project is None:
        raise NotApproved("is not approved")
    below = os.path.relpath(path, project.path)
    if not project.knows(below):
        raise NotApproved("is not approved")
    try:
        content = content_of(path, project.path)
    except Unapprovable as why:
        raise NotApproved(f"has changed since it was approved: {why}") from None
    if not project.approves(below, content.digest):
        raise NotApproved("has changed since it was approved")
    return content
