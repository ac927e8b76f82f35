"""Stores the approvals of projects: one private file for each project.

A project is identified by its real path, and a skill by its path in the project and the digest of
its content. Moved, edited or added skills are therefore not used until they are approved again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from skillyard.base.configuration import state_folder
from skillyard.base.errors import io_errors
from skillyard.base.io.files import ancestors, atomic_write, is_private, read_regular, sha256

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
    since: float = 0.0
    """Unix seconds of the approval; 0 before there is one."""
    skills: Mapping[str, str] = {}
    """The digests of the approved skills by their paths in the project."""
    accepted: tuple[Accepted, ...] = ()


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
        head, end, lines = data.decode("ascii").partition("\n")
        shape = json.loads(head) if is_private(status) else {}
        if not end or shape["version"] != _VERSION:
            return None
        pairs = (line.partition(" ") for line in lines.splitlines())
        skills = {json.loads(below): digest for digest, _, below in pairs}
        accepted = tuple((str(r), str(d), str(why)) for r, d, why in shape.get("accepted", ()))
        return Project(str(shape["project"]), float(shape["since"]), skills, accepted)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def project_above(folder: str) -> Project | None:
    """Return the approval of the folder's real path, or of the nearest folder above it."""
    for above in ancestors(os.path.realpath(folder)):
        project = project_at(above)
        if project is not None:
            return project
    return None


def untrusted_skills(folder: str) -> str | None:
    """Return the real path of the project of a folder, if it has skills, or None.

    The search covers the folder and those above it, up to the repository's root. It stops at the
    home folder, whose skills are the user's own.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    for above in ancestors(os.path.realpath(folder)):
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
    lines = [json.dumps(head), *(f"{skills[each]} {json.dumps(each)}" for each in sorted(skills))]
    data = "".join(f"{line}\n" for line in lines).encode("ascii")
    record = _record(path)
    hint = "check the folder; SKILLYARD_STATE names another one"
    with io_errors("store the approval", record, hint):
        os.makedirs(_folder(), mode=0o700, exist_ok=True)
        atomic_write(record, data, mode=0o600)
    return Project(path, since, skills, tuple(accepted))


def revoke(path: str) -> bool:
    """Delete the approval of a project. Returns False when there is none. Raises SkillIoError."""
    with io_errors("revoke", _record(path)):
        try:
            os.unlink(_record(path))
        except FileNotFoundError:
            return False
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
