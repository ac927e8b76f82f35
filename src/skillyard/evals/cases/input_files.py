"""The input files of a prompt: text goes into the prompt, of other files only the name."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from skillyard.base.errors import ResourceRefused, SkillError
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.formats.frontmatter import decode
from skillyard.engine.resources import read_resource, safe_parts
from skillyard.engine.skill import Skill

_LIMITS = DEFAULT_LIMITS._replace(resource_bytes=20_000_000)


class InputFile(NamedTuple):
    """One file that a prompt comes with."""

    name: str
    """Relative, with ``/``, as the case names it."""
    data: bytes

    @property
    def text(self) -> str | None:
        """The content; None where it is no UTF-8 text."""
        try:
            return decode(self.data, self.name)
        except SkillError:
            return None

    def in_prompt(self) -> str:
        """Return the text in a fence; of any other file the name and the size."""
        if self.text is None:
            size = len(self.data)
            return f"The file {self.name} ({size:,} bytes) cannot be shown here; it is no text."
        fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", self.text)), default=0))
        return f"The file {self.name}:\n\n{fence}\n{self.text}\n{fence}"


def load_file(name: str, folders: Sequence[str]) -> InputFile:
    """Return the file from the first of the folders that has it.

    Only regular files inside a folder are read, no links and no absolute paths. Raises SkillError.
    """
    parts = safe_parts(name)
    for folder in folders:
        if os.path.lexists(os.path.join(folder, *parts)):
            owner = Skill("files", "Files beside cases.", "", path=os.path.join(folder, "SKILL.md"))
            return InputFile("/".join(parts), read_resource(owner, name, _LIMITS))
    raise ResourceRefused(f"there is no file {name!r}", path=name)
