"""Replaces the description in a skill's file and keeps every other byte.

The new text is accepted only when the document still parses to the same skill with the new
description. Frontmatter that does not parse without repair is left to ``check --fix``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import NamedTuple

import yaml

from skillyard.catalog import Catalog
from skillyard.errors import InvalidInput, SkillError, SkillIoError
from skillyard.formats.frontmatter import split
from skillyard.formats.yaml_guard import read_mapping
from skillyard.io.paths import same_path
from skillyard.limits import DEFAULT_LIMITS
from skillyard.skill import Skill
from skillyard.validation.fix_plan import FixPlan, read_real_file
from skillyard.validation.fixes import Place, keeps_meaning, parse_text
from skillyard.validation.view import folder_of

__all__ = ["plan_description", "replace_description"]

_BOM = "\ufeff"
_HINT = "edit the file by hand, or run `skillyard check --fix` first"


def plan_description(catalog: Catalog, skill: Skill, description: str) -> FixPlan:
    """Return the change of a skill's file to another description. Writes nothing.

    Raises SkillIoError for a file that cannot be read, or that is reached by a link; InvalidInput
    where the description cannot be replaced alone.
    """
    real = _real_path(catalog, skill)
    try:
        before = read_real_file(real)
    except OSError as error:
        raise SkillIoError(
            f"cannot read: {error.strerror or error}",
            path=skill.path,
            code="io_error",
            hint="check the permissions of the file",
        ) from None
    after = replace_description(
        before, Place(skill.path, folder_of(skill.path), skill.origin), description
    )
    return FixPlan(skill.path, real, before, after, ())


def _real_path(catalog: Catalog, skill: Skill) -> str:
    """Return the path of the file without links; below its root there may be none."""
    below = catalog.below(skill)
    if below is not None:
        root, _, rest = below.partition("/")
        real = os.path.join(os.path.realpath(catalog.roots[int(root)]), *rest.split("/"))
        if same_path(os.path.realpath(skill.path), real):
            return real
    raise InvalidInput(f"{skill.path} is not written: it is reached by a link, or is no file")


def replace_description(data: bytes, place: Place, description: str) -> bytes:
    """Return a document with another description, and no other change. Raises InvalidInput."""
    if len(data) > DEFAULT_LIMITS.skill_file_bytes:
        raise InvalidInput(f"{place.path} is not written: it is too large")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(f"{place.path} is not written: it is not UTF-8") from None
    is_crlf = "\r\n" in text
    if is_crlf and text.count("\r\n") != text.count("\n"):
        raise InvalidInput(f"{place.path} is not written: it has two kinds of line ends; {_HINT}")
    unified = text.replace("\r\n", "\n")
    for candidate in _candidates(unified, place, description):
        parsed = parse_text(candidate, place)
        is_new = parsed is not None and parsed.skill.description == description
        if is_new and keeps_meaning(unified, candidate, "description", place):
            return (candidate.replace("\n", "\r\n") if is_crlf else candidate).encode("utf-8")
    raise InvalidInput(
        f"{place.path} is not written: its description cannot be replaced alone; {_HINT}"
    )


class _Value(NamedTuple):
    """The position of the value of a field in a frontmatter block."""

    start: int
    end: int
    style: str | None
    """The quote, ``|`` or ``>``; None for a plain text."""


def _candidates(text: str, place: Place, description: str) -> Iterator[str]:
    """Yield the document with the new description, in each notation that the old one suggests."""
    mark = _BOM if text.startswith(_BOM) else ""
    document = text.removeprefix(_BOM)
    try:
        block = split(document, place.path).block
        value = _value_of(block, place.path)
    except (SkillError, yaml.YAMLError):
        return
    if value is None:
        return
    start = document.index("\n") + 1
    for notation in _notations(description, value.style):
        yield (mark + document[: start + value.start] + notation + document[start + value.end :])


def _value_of(block: str, path: str) -> _Value | None:
    """Return the place of the description; None where it has none. Raises SkillError."""
    read_mapping(block, path)  # refuses what is dangerous to compose
    root = yaml.compose(block, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)  # the guard refuses anything else
    for key, value in root.value:
        if key.value == "description" and isinstance(value, yaml.ScalarNode):
            start, end = value.start_mark.index, value.end_mark.index
            if value.style in ("|", ">"):
                end = start + len(block[start:end].rstrip())
            return _Value(start, end, value.style)
    return None


def _notations(description: str, style: str | None) -> Iterator[str]:
    if style not in ("'", '"'):
        yield description
    if style != '"':
        yield "'" + description.replace("'", "''") + "'"
    yield json.dumps(description, ensure_ascii=False)
