"""``new``: the folder of a new skill, which passes ``check``."""

from __future__ import annotations

import os
import re
import shutil

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.shapes.upkeep import NewSkill
from skillyard.engine.discovery.layout import SKILL_FILE

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST = 64
"""agentskills.io/specification, as of November 2026."""
_NAME_LINE = re.compile(r"(?m)^name:.*$")
_TEXT = """\
---
name: {name}
description: >-
  Turns the files that it is given into the result that its users need. Use when somebody asks for
  {words}, or names the kind of file or problem that this skill is for.
---
# {title}

## Steps

1. Say what to look at first, and how to tell that it is the right thing.
2. Say what to do, one action a step, with the command or the form of the result.
3. Say how to check the result, and what to do when it is wrong.

## Examples

A request: {words}.
The result: what the user gets, as short as it can be shown.
"""


def write_new_skill(name: str, into: str = ".", template: str | None = None) -> NewSkill:
    """Write the folder of a skill below ``into``, and return its files.

    ``template`` is the folder of a skill that is copied, with the new name in its SKILL.md. Raises
    InvalidInput for a name that ``check`` would refuse, a folder that is there, and a template
    without a SKILL.md; SkillIoError for a folder that cannot be written.
    """
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise InvalidInput(
            f"{name!r} is no name of a skill: write at most {_LONGEST} of a-z, 0-9 and single -,"
            " such as csv-cleaning"
        )
    folder = os.path.join(into, name)
    if os.path.lexists(folder):
        raise InvalidInput(f"{folder} is there already; nothing was written")
    try:
        if template is None:
            words = name.replace("-", " ")
            text = _TEXT.format(name=name, title=words.capitalize(), words=words)
            os.makedirs(folder)
        else:
            text = _named(os.path.join(template, SKILL_FILE), name)
            ignored = shutil.ignore_patterns(".git", "__pycache__")
            shutil.copytree(template, folder, symlinks=True, ignore=ignored)
        path = os.path.join(folder, SKILL_FILE)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        what = f"cannot write it: {error.strerror}"
        raise SkillIoError(what, path=folder, hint="check the folder and its space") from None
    files = sorted(
        os.path.relpath(os.path.join(place, each), folder).replace(os.sep, "/")
        for place, _, names in os.walk(folder)
        for each in names
    )
    return NewSkill(name=name, path=path, files=tuple(files))


def _named(path: str, name: str) -> str:
    """Return a template's SKILL.md with another name. Raises InvalidInput."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"--from: {path} cannot be read; name the folder of a skill") from None
    end = text.find("\n---", 3)
    if not text.startswith("---") or end < 0:
        raise InvalidInput(f"--from: {path} has no frontmatter")
    head, count = _NAME_LINE.subn(f"name: {name}", text[:end], count=1)
    head = head if count else f"---\nname: {name}{head[3:]}"
    return head + text[end:]
