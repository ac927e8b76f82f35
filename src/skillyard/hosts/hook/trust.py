"""Stores the approvals of projects: one private file for each project.

A project is identified by its real path, and a skill by its path in the project and the digest of
its content. Moved, edited or added skills are therefore not used until they are approved again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.configuration import state_folder
from skillyard.base.errors import SkillIoError
from skillyard.base.io.atomic_write import atomic_write
from skillyard.base.io.files import is_private, read_regular
from skillyard.base.io.paths import ancestors
from skillyard.base.io.sha256 import sha256

if TYPE_CHECKING:
    from os import PathLike

_VERSION = 2
"""Increases when the coverage of the digest changes. Approvals of another version are invalid."""
_SKILL_FOLDERS = (
    *(".skills", "key_skills", ".agents/skills", ".claude/skills", ".codex/skills"),
    *(".cursor/skills", ".gemini/skills", ".github/skills", ".opencode/skills"),
)
"""Folders in which projects have skills for agents. Only their existence is checked."""


Accepted = tuple[str, str, str]
"""A finding of the scan that the user accepted: rule, digest of the file, reason."""


class Project(NamedTuple):
    """The approval of one project."""

    path: str
    """The real path of the project."""
    since: float
    """Unix seconds of the approval."""
    lines: bytes
    """A line feed, then a line for each skill: digest, space, path in the project as JSON."""
    accepted: tuple[Accepted, ...] = ()

    def approves(self, below: str, digest: str) -> bool:
        """Return True when the skill at a path in the project is approved with that digest."""
        return b"\n" + _line(below, digest) in self.lines

    def knows(self, below: str) -> bool:
        """Return True when the skill at a path is approved with any digest."""
        return f" {json.dumps(below)}\n".encode("ascii") in self.lines

    def skills(self) -> dict[str, str]:
        """Return the digests of all approved skills by their paths."""
        digests = {}
        for line in self.lines.decode("ascii").split("\n"):
            digest, blank, below = line.partition(" ")
            if blank:
                digests[json.loads(below)] = digest
        return digests


def _line(below: str, digest: str) -> bytes:
    return f"{digest} {json.dumps(below)}\n".encode("ascii")


def real_path(folder: str | PathLike[str]) -> str:
    """Return the real path of a folder."""
    return os.path.realpath(folder)


_MAX_RECORD_BYTES = 1 << 26


def _folder() -> str:
    return os.path.join(state_folder(), "trust")


def _record(path: str) -> str:
    return os.path.join(_folder(), f"{sha256(os.fsencode(path)).hex()[:32]}.txt")


def project_at(path: str) -> Project | None:
    """Return the approval of a project by its real path, or None.

    A record that other users can write, or that cannot be read, is ignored.
    """
    project = _read_record(_record(path))
    return project if project is not None and project.path == path else None


def _read_record(record: str) -> Project | None:
    try:
        data, status = read_regular(record, _MAX_RECORD_BYTES)
        head, end, lines = data.partition(b"\n")
        shape = json.loads(head) if is_private(status) else {}
        if not end or shape["version"] != _VERSION:
            return None
        accepted = tuple((str(r), str(d), str(why)) for r, d, why in shape.get("accepted", ()))
        return Project(str(shape["project"]), float(shape["since"]), b"\n" + lines, accepted)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def project_above(folder: str) -> Project | None:
    """Return the approval of the folder's real path, or of the nearest folder above it."""
    for above in ancestors(real_path(folder)):
        project = project_at(above)
        if project is not None:
            return project
    return None


def untrusted_skills(folder: str) -> str | None:
    """Return the real path of the project of a folder, if it has skills, or None.

    The search covers the folder and those above it, up to the repository's root. It stops at the
    home folder, whose skills are the user's own.
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


def approve(path: str, skills: Mapping[str, str], accepted: Sequence[Accepted] = ()) -> Project:
    """Store the approval of these skills (path -> digest) of a project.

    Replaces an earlier approval. Raises SkillIoError.
    """
    since = round(time.time(), 3)
    head = {"version": _VERSION, "project": path, "since": since, "accepted": list(accepted)}
    lines = b"".join(_line(below, skills[below]) for below in sorted(skills))
    data = json.dumps(head).encode("ascii") + b"\n" + lines
    record = _record(path)
    try:
        os.makedirs(_folder(), mode=0o700, exist_ok=True)
        atomic_write(record, data, mode=0o600)
    except OSError as error:
        raise SkillIoError(
            f"cannot store the approval: {error.strerror}",
            path=error.filename or record,
            hint="check the folder; SKILLYARD_STATE names another one",
        ) from None
    return Project(path, since, b"\n" + lines, tuple(accepted))


def revoke(path: str) -> bool:
    """Delete the approval of a project. Returns False when there is none. Raises SkillIoError."""
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
    records = [
        _read_record(os.path.join(_folder(), name)) for name in names if name.endswith(".txt")
    ]
    return sorted((each for each in records if each is not None), key=lambda each: each.path)
