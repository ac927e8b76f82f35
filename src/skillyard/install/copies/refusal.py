"""The error of everything that installs: nothing was written."""

from __future__ import annotations

from skillyard.base.errors import SkillError


class InstallRefused(SkillError):
    """Raised instead of overwriting local changes, and for files that are not a skill."""

    kind = "InstallRefused"
