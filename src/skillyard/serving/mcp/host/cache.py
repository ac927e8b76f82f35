"""A disk cache of verified files of served skills, where no agent looks for skills.

A file is stored under its digest, never as ``SKILL.md``, and verified again at each read. Each
skill of each server has its own folder, so the origin of a file stays known, and it remains
untrusted MCP content.
"""

from __future__ import annotations

import json
import os
import shutil
from urllib.parse import quote

from skillyard.discovery.hosts import user_folders
from skillyard.discovery.layout import RUNTIME_FOLDER
from skillyard.errors import InvalidInput, SkillIoError
from skillyard.io.atomic_write import atomic_write
from skillyard.io.paths import is_below
from skillyard.io.sha256 import sha256
from skillyard.resources import read_file
from skillyard.serving.mcp.host.entries import ServedFile, ServedSkill

__all__ = ["SkillCache"]

NAME_BYTES = 200


class SkillCache:
    """A folder of verified files.

    Raises InvalidInput for a folder in which an agent, or skillyard itself, would find skills.
    """

    def __init__(self, folder: str) -> None:
        self.folder = os.path.abspath(folder)
        info = _agent_folder_in(self.folder)
        if info:
            raise InvalidInput(
                f"{folder} lies in {info!r}, where skills are looked for: served files would be"
                " taken for local ones; name a folder elsewhere"
            )

    def get(self, skill: ServedSkill, file: ServedFile) -> bytes | None:
        """Return a file's bytes; None when they are not cached, or do not match the digest."""
        try:
            data = read_file(self._path(skill, file), file.size).data
        except SkillIoError:
            return None
        return data if _is(file, data) else None

    def put(self, skill: ServedSkill, file: ServedFile, data: bytes) -> None:
        """Store verified bytes. Raises InvalidInput for other bytes, and OSError."""
        if not _is(file, data):
            raise InvalidInput("only verified bytes are kept")
        path = self._path(skill, file)
        folder = os.path.dirname(path)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._sign(skill, folder)
        atomic_write(path, data, mode=0o600, durable=False)

    def forget(self, label: str) -> None:
        """Remove all files of one server."""
        shutil.rmtree(os.path.join(self.folder, _segment(label)), ignore_errors=True)

    def _path(self, skill: ServedSkill, file: ServedFile) -> str:
        home = os.path.join(self.folder, _segment(skill.label), _segment(skill.uri))
        return os.path.join(home, file.digest.removeprefix("sha256:"))

    def _sign(self, skill: ServedSkill, folder: str) -> None:
        """Record the origin of the files once."""
        path = os.path.join(folder, "origin.json")
        if not os.path.lexists(path):
            record = {"server": skill.label, "uri": skill.uri, "arrived": "mcp"}
            data = (json.dumps(record) + "\n").encode()
            atomic_write(path, data, mode=0o600, durable=False)


def _is(file: ServedFile, data: bytes) -> bool:
    return len(data) == file.size and f"sha256:{sha256(data).hex()}" == file.digest


def _segment(text: str) -> str:
    """Return a unique folder name for a label or URI."""
    escaped = quote(text, safe="")
    if len(escaped) <= NAME_BYTES and escaped.strip("."):
        return f"={escaped}"
    return f"~{sha256(text.encode('utf-8', 'surrogatepass')).hex()}"


def _agent_folder_in(folder: str) -> str:
    """Return the part of a path by which agents would find skills; empty without one."""
    parts = os.path.realpath(folder).replace("\\", "/").split("/")
    if RUNTIME_FOLDER in parts:
        return RUNTIME_FOLDER
    for path in user_folders():
        if is_below(folder, path):
            return path
    return "skills" if "skills" in parts or "key_skills" in parts else ""
