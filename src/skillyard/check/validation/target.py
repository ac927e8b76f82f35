"""What ``check`` reads: the roots to walk, and which of their files to check."""

from __future__ import annotations

import os
from typing import NamedTuple

from skillyard.base.errors import InvalidInput, InvalidSkillsRoot
from skillyard.base.invisible import clean
from skillyard.base.io.paths import slashes
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.discovery.layout import RUNTIME_FOLDER
from skillyard.engine.formats.file_names import OASIS_FOLDER, folder_convention_of

_SKILL_FILES = ("SKILL.md", "skill.md")


class Target(NamedTuple):
    """A root to walk, and the part of it to check; or a library of several."""

    argument: str
    root: str
    depth: int
    """Folders entered below the root."""
    below: str = ""
    """Only this file, or the files below this folder, are checked. Empty means all."""
    strict: bool = False
    """True for a single document below ``.skills``, which is parsed strictly and without a walk."""

    library: LibrarySpec | None = None
    """All of it is checked, instead of the argument."""

    @property
    def spec(self) -> LibrarySpec:
        """The library to walk."""
        limits = DEFAULT_LIMITS._replace(tree_depth=self.depth)
        return self.library or LibrarySpec((self.root,), (), limits)

    def includes(self, path: str) -> bool:
        """True when a file at ``path`` is part of the target."""
        forms = (self.below, display_path(self.below))
        return not self.below or any(path == f or path.startswith(f"{f}/") for f in forms)


def display_path(path: str) -> str:
    """Return a path in the form that discovery uses in diagnostics."""
    text = clean(path.encode("utf-8", "backslashreplace").decode("utf-8"))
    return text.replace("\n", "\\n").replace("\t", "\\t")


def target_of(path: str | os.PathLike[str]) -> Target:
    """Return the target of a path. Raises InvalidInput, or InvalidSkillsRoot if missing."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(f"path must be a path, not {type(path).__name__}")
    argument = os.fspath(path)
    if not isinstance(argument, str) or "\0" in argument:
        raise InvalidInput("path must be a path as text")
    argument = _plain(argument)
    if not os.path.lexists(argument):
        raise InvalidSkillsRoot(
            "the path does not exist",
            path=argument,
            hint="name a skill, or a folder that holds skills",
        )
    place = _with_slashes(os.path.abspath(argument))  # the folder that one is in says nothing else
    if OASIS_FOLDER in place.split("/")[-3:-1] and OASIS_FOLDER not in argument.split("/"):
        argument = place
    elif folder_convention_of(place) is not None and os.path.isfile(argument):
        return _in_convention_folder(argument, place)
    parent, name = os.path.split(argument)
    above, folder = os.path.split(parent)
    if os.path.isdir(argument):
        if os.path.basename(parent) == OASIS_FOLDER:
            return Target(argument, parent, DEFAULT_LIMITS.tree_depth, _join(parent, name))
        return Target(argument, argument, DEFAULT_LIMITS.tree_depth)
    if any(part.lower() == RUNTIME_FOLDER for part in place.split("/")[:-1]):
        return Target(argument, parent, 0, _join(parent, name), strict=True)
    if os.path.basename(above) == OASIS_FOLDER and name in _SKILL_FILES:
        return Target(argument, above, 1, _join(_join(above, folder), name))
    return Target(argument, parent or ".", 0, _join(parent, name))


def _in_convention_folder(argument: str, place: str) -> Target:
    """Return the target of a command, rule or instruction of a host, which its folders show."""
    path = place if folder_convention_of(argument) is None else argument
    root, _, below = path.rpartition("/")
    depth = 0
    while folder_convention_of(below) is None:
        root, _, name = root.rpartition("/")
        below, depth = f"{name}/{below}", depth + 1
    return Target(argument, root or ("/" if path[0] == "/" else "."), depth, path)


def _plain(path: str) -> str:
    """Return the path without a leading ``./`` and a trailing slash."""
    path = path.replace(os.sep, "/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return slashes(path) or "."


def _with_slashes(path: str) -> str:
    return path.replace(os.sep, "/")


def _join(folder: str, name: str) -> str:
    """Return the path in the form that discovery uses."""
    text = _with_slashes(folder)
    return f"{text}{name}" if not text or text.endswith("/") else f"{text}/{name}"
