"""Compares the files beside SKILL.md in the folders of two copies of a skill."""

from __future__ import annotations

from typing import NamedTuple

from skillyard.base.errors import ResourceRefused
from skillyard.base.limits import DEFAULT_LIMITS, Limits
from skillyard.engine.resources import list_resources, read_resource
from skillyard.engine.skill import Skill

MAX_COMPARED_BYTES = 16 * 1024 * 1024
"""Bytes read of each folder, the same limit as for approval. Beyond it only sizes are compared."""


class DifferingFile(NamedTuple):
    """A file in which two copies of a skill differ."""

    path: str
    """Relative to the folder of the skill."""
    what: str
    """The difference, from the point of view of the copy."""


def differing_file(
    skill: Skill, copy: Skill, limits: Limits = DEFAULT_LIMITS
) -> DifferingFile | None:
    """Return the first file by path that differs between the folders of a skill and its copy.

    None when there is none, or when one of them is a single document without a folder. Names and
    sizes are compared first, then bytes. A file that cannot be read is skipped.
    """
    try:
        own = {file.path: file.size for file in list_resources(skill, limits)}
        other = {file.path: file.size for file in list_resources(copy, limits)}
    except ResourceRefused:
        return None
    remaining_bytes = MAX_COMPARED_BYTES
    for path in sorted(own.keys() | other.keys()):
        if path not in own:
            return DifferingFile(path, "is only here")
        if path not in other:
            return DifferingFile(path, "is missing here")
        remaining_bytes -= own[path]
        if own[path] != other[path] or (
            remaining_bytes >= 0 and _differ(skill, copy, path, limits)
        ):
            return DifferingFile(path, "is another one here")
    return None


def _differ(skill: Skill, copy: Skill, path: str, limits: Limits) -> bool:
    try:
        return read_resource(skill, path, limits) != read_resource(copy, path, limits)
    except ResourceRefused:
        return False
