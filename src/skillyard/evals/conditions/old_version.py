"""The old version of a skill, for the arm ``old``: from a commit of Git, or from a folder."""

from __future__ import annotations

import os
import subprocess

from skillyard.base.errors import InvalidInput
from skillyard.base.io.processes import program_path
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.formats.frontmatter import decode
from skillyard.engine.resources import read_file
from skillyard.engine.skill import Skill

_SECONDS = 30.0


def old_document(skill: Skill, where: str) -> str | None:
    """Return the text of the skill's document as it was; None where there was none.

    ``where`` is a folder, which holds the document or a folder with the skill's name; or a commit,
    tag or branch of the repository in which the skill lies. Raises InvalidInput where Git cannot
    answer, and SkillIoError.
    """
    if os.path.isdir(where):
        return _from_folder(skill, where)
    folder, name = os.path.split(os.path.abspath(skill.path))
    git = program_path("git")
    if not skill.path or git is None or where.startswith("-"):
        raise InvalidInput(f"--old-version {where}: there is no such folder, and no Git to ask")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}

    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [git, "-C", folder, *arguments]
        return subprocess.run(
            command, check=False, capture_output=True, timeout=_SECONDS, env=environment
        )

    if run("rev-parse", "--verify", "--quiet", f"{where}^{{commit}}").returncode:
        raise InvalidInput(
            f"--old-version {where}: neither a folder nor a commit of the repository of {folder}"
        )
    # Without filters and converters, which the configuration of a repository could name.
    blob = run("cat-file", "blob", f"{where}:./{name}")
    return decode(blob.stdout, skill.path) if blob.returncode == 0 else None


def _from_folder(skill: Skill, folder: str) -> str | None:
    name = os.path.basename(skill.path) or "SKILL.md"
    own = os.path.basename(os.path.dirname(os.path.abspath(skill.path))) if skill.path else ""
    for below in ((own,), (skill.name,), ()):
        path = os.path.join(folder, *below, name)
        if os.path.isfile(path):
            return decode(read_file(path, DEFAULT_LIMITS.skill_file_bytes).data, path)
    return None
