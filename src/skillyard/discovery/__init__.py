"""From roots to candidate files: layouts, agent folders, ignores, links, depth.

Below a root the whole tree is looked at, within the limits: every folder with a ``SKILL.md``
(nested ones too, but not inside ``references/``, ``scripts/`` … of a skill), every ``.md`` below
``.skills/`` that is not below a skill folder, ``key_skills/*/SKILL.md``, and the convention
files. Heavy folders are skipped. Only the parts of a path *below* the root are judged, so it does
not matter where a project lies.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillyard.arguments import check_arguments
from skillyard.discovery.candidate import Candidate, Scan, Stamp
from skillyard.discovery.layout import (
    AGENT_FOLDERS,
    BUILD_FOLDERS,
    HEAVY_FOLDERS,
    OWN_FOLDERS,
    REFERENCE_FOLDERS,
    AgentFolder,
    Root,
    user_roots,
)
from skillyard.discovery.walk import scan
from skillyard.errors import InvalidInput
from skillyard.skill import Origin

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "AGENT_FOLDERS",
    "BUILD_FOLDERS",
    "HEAVY_FOLDERS",
    "OWN_FOLDERS",
    "REFERENCE_FOLDERS",
    "AgentFolder",
    "Candidate",
    "Root",
    "Scan",
    "Stamp",
    "discover_instruction_files",
    "discover_skill_files",
    "scan",
    "user_roots",
]


@check_arguments
def discover_skill_files(root: str | os.PathLike[str]) -> list[Path]:
    """Return the skill files below a root, sorted, each once; convention files left out.

    Raises InvalidSkillsRoot when the root is not a folder.
    """
    from pathlib import Path  # here, because importing it costs more than a small scan

    found = scan([Root(_root_path(root))]).candidates
    return [Path(c.path) for c in found if c.origin != Origin.CONVENTION]


@check_arguments
def discover_instruction_files(root: str | os.PathLike[str]) -> list[Path]:
    """Return the skill files and the convention files below a root, sorted, each once.

    Raises InvalidSkillsRoot when the root is not a folder.
    """
    from pathlib import Path

    return [Path(c.path) for c in scan([Root(_root_path(root))]).candidates]


def _root_path(root: str | os.PathLike[str]) -> str:
    path = os.fspath(root)
    if not isinstance(path, str) or "\0" in path:
        raise InvalidInput("root must be a path as text")
    return path or "."
