"""What an installed skill is, or what became of it: the states in documents."""

from __future__ import annotations

from collections.abc import Iterable

from skillyard.base.shapes.installation import LockedSkillState

CURRENT = "current"
"""The folder is exactly what the lock says."""
UNPINNED = "unpinned"
"""The folder has the installer's hash; the lock has no digest, which would be stronger."""
BEHIND = "behind"
"""The folder is what skillyard wrote to it, and the lock names another version now."""
EDITED = "edited"
INTERRUPTED = "interrupted"
"""A stopped run left something that the next one completes."""
LINKED = "linked"
"""A link to the folder that its entry names, which is the user's own and never changed."""
MISSING = "missing"
NOT_COMPARABLE = "not_comparable"
"""The lock does not say enough to compare the folder; ``update`` compares it with its source."""
UNREADABLE = "unreadable"
"""It cannot be read, or is not a folder of its own; the problem says why."""

INSTALLED = "installed"
UPDATED = "updated"
PINNED = "pinned"
"""The files are the newest; now the lock pins them, or says who signed them."""
REMOVED = "removed"
UNLINKED = "unlinked"
"""Only the link in the named folder is gone: the skill lies elsewhere and stays."""
PLANNED = "planned"
"""With ``--dry-run``: it would be installed or removed."""

AVAILABLE = "available"
"""There is a newer version, which was not taken."""
GONE = "gone"
"""The newest version of its source has it no longer."""
MOVED = "moved"
"""The newest version of its repository has it in another folder, or has another name."""
OUTDATED = "outdated"
REFUSED = "refused"
UNREACHABLE = "unreachable"
"""Its source did not answer, so that trying later may help."""
UNSUPPORTED = "unsupported"
"""It comes from a kind of source that has no versions here."""

GOOD = frozenset(
    {CURRENT, UNPINNED, LINKED, INSTALLED, UPDATED, PINNED, REMOVED, UNLINKED, PLANNED}
)
"""States of which there is nothing to do."""


def of(skills: Iterable[LockedSkillState]) -> set[str]:
    """Return the states that some skills have."""
    return {skill.state for skill in skills}


def only_unreachable(skills: Iterable[LockedSkillState]) -> bool:
    """True where the only failures are sources that did not answer."""
    return of(skills) - GOOD == {UNREACHABLE}
