"""What an agent finds in its sandbox: the files of its prompt, and a skill's folder or none."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from skillyard.base.errors import InvalidInput, ResourceRefused
from skillyard.base.io.sha256 import sha256
from skillyard.engine.resources import list_resources, read_resource
from skillyard.engine.skill import Skill
from skillyard.evals.arms import git_runner, old_path, split_document
from skillyard.evals.checks import InputFile

SKILLS = "skills"
"""The folder of the sandbox that holds the skill."""
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_DESCRIPTION_CHARS = 1_024
"""What inspect_ai takes of names and descriptions, as agentskills.io has them."""
_MOST_BYTES = 50_000_000


@dataclass(frozen=True)
class AgentSkill:
    """One skill as an agent is offered it."""

    name: str
    description: str
    body: str
    files: tuple[InputFile, ...] = ()
    """Beside its document, by their paths in the skill's folder."""


@dataclass(frozen=True)
class Workspace:
    """The content of one sandbox."""

    skill: AgentSkill | None
    files: tuple[InputFile, ...] = ()
    """Of the prompt, in the working folder."""

    @cached_property
    def digest(self) -> str:
        """A SHA-256 of everything in it, in hexadecimal: a part of the key of an answer."""
        skill = self.skill
        text = [skill.name, skill.description, skill.body] if skill is not None else []
        files = [
            [[file.name, sha256(file.data).hex()] for file in each]
            for each in (self.files, skill.files if skill is not None else ())
        ]
        return sha256(json.dumps([text, files]).encode("utf-8", "surrogatepass")).hex()


def agent_skill(skill: Skill, document: str, files: Iterable[InputFile]) -> AgentSkill:
    """Return a skill for an agent. Raises InvalidInput where inspect_ai would refuse it."""
    description = " ".join(skill.description.split())
    if not _NAME.fullmatch(skill.name):
        raise InvalidInput(
            f"an agent cannot be offered {skill.name!r}: a name has at most 64 characters of a-z,"
            " 0-9 and -"
        )
    if not 0 < len(description) <= _DESCRIPTION_CHARS:
        raise InvalidInput(
            f"an agent cannot be offered {skill.name}: its description has"
            f" {len(description):,} of 1 to {_DESCRIPTION_CHARS:,} characters"
        )
    beside = tuple(files)
    if sum(len(file.data) for file in beside) > _MOST_BYTES:
        raise InvalidInput(f"the files of {skill.name} have more than {_MOST_BYTES:,} bytes")
    return AgentSkill(skill.name, description, split_document(document).body.strip(), beside)


def skill_files(skill: Skill) -> tuple[InputFile, ...]:
    """Return the files beside a skill's document; none for a single document."""
    try:
        listed = list_resources(skill)
        return tuple(InputFile(each.path, read_resource(skill, each.path)) for each in listed)
    except ResourceRefused:
        return ()


def old_files(skill: Skill, where: str) -> tuple[InputFile, ...]:
    """Return the files beside the old document, from the folder or the commit ``where``."""
    if os.path.isdir(where):
        path = old_path(skill, where)
        return skill_files(Skill(skill.name, skill.description, "", path=path)) if path else ()
    run = git_runner(skill, where)
    listed: subprocess.CompletedProcess[bytes] = run("ls-tree", "-r", "-z", where, "./")
    files = []
    for entry in listed.stdout.split(b"\0"):
        head, _, name = entry.partition(b"\t")
        mode = head[:6]
        path = os.fsdecode(name)
        if mode.startswith(b"100") and path != os.path.basename(skill.path):  # no links
            blob = head.split()[2].decode()
            files.append(InputFile(path, run("cat-file", "blob", blob).stdout))
    return tuple(files)
