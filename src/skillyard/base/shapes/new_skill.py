"""What ``new`` writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSkill:
    """A skill that was written."""

    schema: Schema[Literal["skillyard.new/1"]] = "skillyard.new/1"
    name: Annotated[str, "The skill's name."]
    path: Annotated[str, "Its SKILL.md."]
    files: Annotated[tuple[str, ...], "Every file of its folder, relative to it."]
