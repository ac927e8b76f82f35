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
from skillyard.evals.cases.reading import TEXT_CHARS

MAX_FILE_BYTES = 20_000_000
"""Largest input file."""
_LIMITS = DEFAULT_LIMITS._replace(resource_bytes=MAX_FILE_BYTES)


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


def load_file(name: str, folders: Sequence[str]) -> InputFile:
    """Return the file from the first of the folders that has it.

    A path that is relative to a folder further up is found by its end. Only regular files inside a
    folder are read, no links and no absolute paths. Raises SkillError.
    """
    whole = safe_parts(name)
    ends = [whole[start:] for start in range(len(whole))]
    for parts, folder in ((parts, folder) for parts in ends for folder in folders):
        if os.path.lexists(os.path.join(folder, *parts)):
            owner = Skill("files", "Files beside cases.", "", path=os.path.join(folder, "SKILL.md"))
            return InputFile("/".join(whole), read_resource(owner, "/".join(parts), _LIMITS))
    raise ResourceRefused(f"there is no file {name!r}", path=name)


def with_files(prompt: str, files: Sequence[InputFile]) -> str:
    """Return the prompt with its text files behind it.

    Any other file is named with its size. Raises SkillError where the prompt becomes too long.
    """
    for file in files:
        prompt += f"\n\n{_as_text(file)}"
        if len(prompt) > TEXT_CHARS:
            raise ResourceRefused(
                f"with its files the prompt is longer than {TEXT_CHARS:,} characters",
                path=file.name,
            )
    return prompt


def _as_text(file: InputFile) -> str:
    if file.text is None:
        size = len(file.data)
        return f"The file {file.name} ({size:,} bytes) cannot be shown here; it is no text."
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", file.text)), default=0))
    return f"The file {file.name}:\n\n{fence}\n{file.text}\n{fence}"
