"""Which projects' skills the user has approved, and as what: one private file for each project.

A project is its real path; a skill is its path in the project and the digest of its content. So
nothing that was moved, edited or added is used until somebody has looked at it again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from skillyard.errors import SkillIoError
from skillyard.io.atomic_write import atomic_write
from skillyard.io.files import is_private, open_to_read
from skillyard.io.paths import ancestors
from skillyard.io.sha256 import sha256
from skillyard.io.user_folders import state_folder

if TYPE_CHECKING:
    from os import PathLike

__all__ = [
    "Project",
    "approve",
    "project_above",
    "project_at",
    "projects",
    "real_path",
    "revoke",
    "untrusted_skills",
]

_VERSION = 2
"""Grows when what a digest covers changes: what was approved under another one is not."""
_SKILL_FOLDERS = (
    *(".skills", "key_skills", ".agents/skills", ".claude/skills", ".codex/skills"),
    *(".cursor/skills", ".gemini/skills", ".github/skills", ".opencode/skills"),
)
"""Where projects keep skills for agents. Only to say that there are some: nothing is read."""


class Project(NamedTuple):
    """One project as it was approved."""

    path: str
    """Its real path."""
    since: float
    """Unix seconds of the approval."""
    lines: bytes
    """A line for each skill: digest, blank, path in the project as JSON; one line end before."""

    def approves(self, below: str, digest: str) -> bool:
        """Return True when the skill at a path in the project was approved with that content."""
        return b"\n" + _line(below, digest) in self.lines

    def knows(self, below: str) -> bool:
        """Return True when the skill at a path was approved, whatever it says by now."""
        return f" {json.dumps(below)}\n".encode("ascii") in self.lines

    def skills(self) -> dict[str, str]:
        """Return the digests of all approved skills by their paths."""
        found = {}
        for line in self.lines.decode("ascii").split("\n"):
            digest, blank, below = line.partition(" ")
            if blank:
                found[json.loads(below)] = digest
        return found


def _line(below: str, digest: str) -> bytes:
    return f"{digest} {json.dumps(below)}\n".encode("ascii")


def real_path(folder: str | PathLike[str]) -> str:
    """Return the path that a folder has when no link is on the way."""
    return os.path.realpath(folder)


def _folder() -> str:
    return os.path.join(state_folder(), "trust")


def _record(path: str) -> str:
    return os.path.join(_folder(), f"{sha256(os.fsencode(path)).hex()[:32]}.txt")


def project_at(path: str) -> Project | None:
    """Return the approval of a project by its real path, or None.

    A record that others could have written, or that cannot be read, is none.
    """
    found = _read(_record(path))
    return found if found is not None and found.path == path else None


def _read(record: str) -> Project | None:
    try:
        descriptor = open_to_read(record)
    except OSError:
        return None
    try:
        if not is_private(os.fstat(descriptor)):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            head, end, lines = file.read().partition(b"\n")
        shape = json.loads(head)
        if not end or shape["version"] != _VERSION:
            return None
        return Project(str(shape["project"]), float(shape["since"]), b"\n" + lines)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    finally:
        os.close(descriptor)


def project_above(folder: str) -> Project | None:
    """Return the approval of the folder's real path, or of the nearest folder above it."""
    for above in ancestors(real_path(folder)):
        found = project_at(above)
        if found is not None:
            return found
    return None


def untrusted_skills(folder: str) -> str | None:
    """Return the real path of the project around a folder that has skills, or None.

    Looked for in the folder and above it up to the repository's root, never in the home folder:
    what lies there is the user's own.
    """
    home = real_path(os.path.expanduser("~"))
    for above in ancestors(real_path(folder)):
        if above == home:
            return None
        if any(os.path.isdir(os.path.join(above, name)) for name in _SKILL_FOLDERS):
            return above
        if os.path.lexists(os.path.join(above, ".git")):
            return None
    return None


def approve(path: str, skills: Mapping[str, str]) -> Project:
    """Keep that these skills of a project, by path with their digests, are approved.

    What was approved before is replaced. Raises SkillIoError.
    """
    head = {"version": _VERSION, "project": path, "since": round(time.time(), 3)}
    lines = b"".join(_line(below, skills[below]) for below in sorted(skills))
    data = json.dumps(head).encode("ascii") + b"\n" + lines
    record = _record(path)
    try:
        os.makedirs(_folder(), mode=0o700, exist_ok=True)
        atomic_write(record, data, mode=0o600)
    except OSError as error:
        raise SkillIoError(
            f"cannot keep the approval: {error.strerror}",
            path=error.filename or record,
            hint="check the folder; SKILLYARD_STATE names another one",
        ) from None
    return Project(path, float(str(head["since"])), b"\n" + lines)


def revoke(path: str) -> bool:
    """Forget a project; False when it was not approved. Raises SkillIoError."""
    try:
        os.unlink(_record(path))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise SkillIoError(f"cannot revoke: {error.strerror}", path=_record(path)) from None
    return True


def projects() -> list[Project]:
    """Return every approved project, by path."""
    try:
        names = os.listdir(_folder())
    except OSError:
        return []
    found = [_read(os.path.join(_folder(), name)) for name in names if name.endswith(".txt")]
    return sorted((each for each in found if each is not None), key=lambda each: each.path)
