"""Copies of a skill: the first of the files beside SKILL.md in which two folders differ."""

from __future__ import annotations

from typing import NamedTuple

from skillyard.errors import ResourceRefused
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.resources import list_resources, read_resource
from skillyard.skill import Skill

__all__ = ["DifferingFile", "differing_file"]

MAX_COMPARED_BYTES = 16 * 1024 * 1024
"""Read of each folder: as much as a skill that is approved may have. Beyond it sizes decide."""


class DifferingFile(NamedTuple):
    """One file that two copies of a skill do not have in common."""

    path: str
    """Relative to the folder of the skill."""
    what: str
    """How it differs, seen from the folder of the copy."""


def differing_file(
    skill: Skill, copy: Skill, limits: Limits = DEFAULT_LIMITS
) -> DifferingFile | None:
    """Return the first file by path that differs between the folders of a skill and its copy.

    None where there is none, or where one of them is a single document without a folder. Names
    and sizes are compared first, then bytes. A file that cannot be read is not compared.
    """
    try:
        own = {file.path: file.size for file in list_resources(skill, limits)}
        other = {file.path: file.size for file in list_resources(copy, limits)}
    except ResourceRefused:
        return None
    left = MAX_COMPARED_BYTES
    for path in sorted(own.keys() | other.keys()):
        if path not in own:
            return DifferingFile(path, "is only here")
        if path not in other:
            return DifferingFile(path, "is missing here")
        left -= own[path]
        if own[path] != other[path] or (left >= 0 and _differ(skill, copy, path, limits)):
            return DifferingFile(path, "is another one here")
    return None


def _differ(skill: Skill, copy: Skill, path: str, limits: Limits) -> bool:
    try:
        return read_resource(skill, path, limits) != read_resource(copy, path, limits)
    except ResourceRefused:
        return False
