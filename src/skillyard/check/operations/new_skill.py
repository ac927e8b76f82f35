"""``new``: the folder of a new skill, to be filled in; ``check`` warns of what is not."""

from __future__ import annotations

import os
import re
import shutil
from importlib.resources import files

from skillyard.base.errors import InvalidInput, io_errors
from skillyard.base.shapes.upkeep import NewSkill
from skillyard.engine.discovery.layout import SKILL_FILE

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST = 64
"""agentskills.io/specification, as of November 2026."""
_NAME_LINE = re.compile(r"(?m)^name:.*$")
# No word of it is of a request: until it is filled in, only its name can be what somebody means.
_TEMPLATE = files(__package__).joinpath("data", "new_skill.md")


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
    with io_errors("write it", folder, "check the folder and its space"):
        if template is None:
            title = name.replace("-", " ").capitalize()
            text = _TEMPLATE.read_text(encoding="utf-8").format(name=name, title=title)
            os.makedirs(folder)
        else:
            text = _named(os.path.join(template, SKILL_FILE), name)
            ignored = shutil.ignore_patterns(".git", "__pycache__")
            shutil.copytree(template, folder, symlinks=True, ignore=ignored)
        path = os.path.join(folder, SKILL_FILE)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
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
