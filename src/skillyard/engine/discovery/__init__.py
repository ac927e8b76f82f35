"""Finds the candidate files below the roots: layouts, ignored folders, links, depth.

The whole tree below a root is walked, within the limits. Candidates are every folder with a
``SKILL.md`` (nested ones too, but not inside ``references/``, ``scripts/`` … of a skill), every
``.md`` file below ``.skills/`` that is not below a skill folder, ``key_skills/*/SKILL.md``, and the
convention files. Heavy folders are skipped. Only the path *below* the root is considered, so the
result does not depend on where a project lies.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.engine.discovery.layout import (
    BUILD_FOLDERS,
    HEAVY_FOLDERS,
    OWN_FOLDERS,
    REFERENCE_FOLDERS,
    Candidate,
    Root,
    Scan,
    Stamp,
)
from skillyard.engine.discovery.walk import scan
from skillyard.engine.skill import Origin

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "BUILD_FOLDERS",
    "HEAVY_FOLDERS",
    "OWN_FOLDERS",
    "REFERENCE_FOLDERS",
    "Candidate",
    "Root",
    "Scan",
    "Stamp",
    "discover_instruction_files",
    "discover_skill_files",
    "scan",
]


def discover_skill_files(root: str | os.PathLike[str]) -> list[Path]:
    """Return the skill files below a root, sorted, each once, without convention files.

    Raises InvalidSkillsRoot when the root is not a folder.
    """
    from pathlib import Path  # deferred: the import takes longer than a small scan

    candidates = scan([Root(_root_path(root))]).candidates
    return [Path(c.path) for c in candidates if c.origin != Origin.CONVENTION]


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
