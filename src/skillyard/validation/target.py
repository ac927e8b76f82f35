"""What a path given to ``check`` means: a root to walk, and which of its files are meant."""

from __future__ import annotations

import os
from typing import NamedTuple

from skillyard.errors import InvalidInput, InvalidSkillsRoot
from skillyard.formats.file_names import OASIS_FOLDER
from skillyard.io.paths import slashes
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.text import clean

__all__ = ["Target", "shown", "target_of"]

_RUNTIME_FOLDER = ".skills"
_SKILL_FILES = ("SKILL.md", "skill.md")


class Target(NamedTuple):
    """What is looked at: a root to walk, and what of it is meant."""

    given: str
    root: str
    depth: int
    """Folders entered below the root."""
    below: str = ""
    """Keep only this file, or what lies below this folder; empty keeps all."""
    strict: bool = False
    """A single document below ``.skills``: read strictly, without a walk."""

    @property
    def limits(self) -> Limits:
        """The limits of the walk."""
        return DEFAULT_LIMITS._replace(tree_depth=self.depth)

    def means(self, path: str) -> bool:
        """True when something found at ``path`` is meant."""
        forms = (self.below, shown(self.below))
        return not self.below or any(path == f or path.startswith(f"{f}/") for f in forms)


def shown(path: str) -> str:
    """Return a path as discovery writes it into a diagnostic."""
    text = clean(path.encode("utf-8", "backslashreplace").decode("utf-8"))
    return text.replace("\n", "\\n").replace("\t", "\\t")


def target_of(path: str | os.PathLike[str]) -> Target:
    """Return what a path means. Raises InvalidInput, InvalidSkillsRoot where it does not exist."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(f"path must be a path, not {type(path).__name__}")
    given = os.fspath(path)
    if not isinstance(given, str) or "\0" in given:
        raise InvalidInput("path must be a path as text")
    given = _plain(given)
    if not os.path.lexists(given):
        raise InvalidSkillsRoot(
            "the path does not exist",
            path=given,
            hint="name a skill, or a folder that holds skills",
        )
    parent, name = os.path.split(given)
    above, folder = os.path.split(parent)
    if os.path.isdir(given):
        if os.path.basename(parent) == OASIS_FOLDER:
            return Target(given, parent, DEFAULT_LIMITS.tree_depth, _join(parent, name))
        return Target(given, given, DEFAULT_LIMITS.tree_depth)
    if any(part.lower() == _RUNTIME_FOLDER for part in _slashed(parent).split("/")):
        return Target(given, parent, 0, _join(parent, name), strict=True)
    if os.path.basename(above) == OASIS_FOLDER and name in _SKILL_FILES:
        return Target(given, above, 1, _join(_join(above, folder), name))
    return Target(given, parent or ".", 0, _join(parent, name))


def _plain(path: str) -> str:
    """Return the path without a leading ``./`` and a trailing slash, otherwise as it was given."""
    path = path.replace(os.sep, "/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return slashes(path) or "."


def _slashed(path: str) -> str:
    return path.replace(os.sep, "/")


def _join(folder: str, name: str) -> str:
    """Return the path as discovery writes it."""
    text = _slashed(folder)
    return f"{text}{name}" if not text or text.endswith("/") else f"{text}/{name}"
