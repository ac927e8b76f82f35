"""The files beside a SKILL.md that an evaluation adds to it: an explicit list, within a budget.

The names come from a shared file and are not trusted. Only regular files of the skill's own folder
are read, at most one level deep, and no links.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from skillyard.base.errors import InvalidInput, ResourceRefused, SkillError, SkillIoError
from skillyard.engine.context.budget import TRUNCATED
from skillyard.engine.formats.frontmatter import decode
from skillyard.engine.resources import read_resource, real_resource_path, safe_parts
from skillyard.engine.skill import Skill
from skillyard.evals.conditions.summaries import line_feeds

MAX_SIBLING_BYTES = 10_000
"""Default limit for the raw bytes of all siblings together (fn-58.6)."""
STOP_AT_BYTES = 100
"""If fewer bytes than this remain, no more files are read."""
_MAX_PARTS = 2  # a folder and a file: `references/details.md`


class Sibling(NamedTuple):
    """One file that is given to a model beside the skill."""

    name: str
    """As listed."""
    text: str
    """With LF line ends. If it was cut, its last line is a note about that."""
    truncated: bool


class Siblings(NamedTuple):
    """The result of reading a list of siblings. Each distinct name is in exactly one field."""

    files: tuple[Sibling, ...]
    missing: tuple[str, ...]
    """Names without a file."""
    refused: tuple[tuple[str, str], ...]
    """Names that may not be read, or are no text, each with the reason."""
    left_out: tuple[str, ...] = ()
    """Names that the budget did not reach."""


def read_siblings(
    folder: str, names: Sequence[str], max_bytes: int = MAX_SIBLING_BYTES
) -> Siblings:
    """Read the listed files of a skill's folder, in order, up to ``max_bytes`` raw bytes in all.

    The file that crosses the budget is cut between two characters and marked; files behind it are
    left out, and so is everything once 100 bytes or fewer remain. A name that comes twice is read
    once. Files larger than ``limits.resource_bytes`` are refused. Raises InvalidInput for a
    negative budget; no file makes it raise.
    """
    if max_bytes < 0:
        raise InvalidInput(f"max_sibling_bytes must be 0 or more, not {max_bytes}")
    skill = Skill("siblings", "Files beside a skill.", "", path=os.path.join(folder, "SKILL.md"))
    files: list[Sibling] = []
    missing: list[str] = []
    refused: list[tuple[str, str]] = []
    left_out: list[str] = []
    done: set[tuple[str, ...]] = set()
    remaining = max_bytes
    for name in dict.fromkeys(names):
        try:
            parts = _allowed_parts(name)
            if parts in done:
                continue
            done.add(parts)
            if remaining <= STOP_AT_BYTES:
                left_out.append(name)
            elif not os.path.lexists(os.path.join(folder, *parts)):
                missing.append(name)
            else:
                data = _plain_file(skill, folder, parts)
                files.append(_cut(name, data, remaining))
                remaining -= len(data)
        except SkillError as error:
            refused.append((name, error.message))
    return Siblings(tuple(files), tuple(missing), tuple(refused), tuple(left_out))


def _allowed_parts(name: str) -> tuple[str, ...]:
    parts = safe_parts(name)
    if len(parts) > _MAX_PARTS:
        raise ResourceRefused(f"refused {name!r}: it lies more than one folder below the skill")
    if len(parts) == 1 and parts[0].lower() == "skill.md":
        raise ResourceRefused(f"refused {name!r}: it is the skill itself")
    return parts


def _plain_file(skill: Skill, folder: str, parts: tuple[str, ...]) -> bytes:
    path = "/".join(parts)
    if real_resource_path(skill, path) != os.path.join(os.path.realpath(folder), *parts):
        raise ResourceRefused(f"refused {path!r}: it is a link, or lies behind one")
    return read_resource(skill, path)


def _cut(name: str, data: bytes, remaining: int) -> Sibling:
    """Return the file's text within the budget. Raises SkillIoError for what is no UTF-8 text."""
    try:
        text = decode(data, name)
    except SkillIoError as error:
        raise ResourceRefused(f"refused {name!r}: {error.message}") from None
    if len(data) <= remaining:
        return Sibling(name, line_feeds(text), False)
    text_within = line_feeds(data[:remaining].decode("utf-8", "ignore"))
    return Sibling(name, f"{text_within.rstrip()}\n{TRUNCATED}", True)
