"""How many skills there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillCountsDocument:
    """What the skills are, and what is not counted among them."""

    skills: Annotated[int, "Distinct skills."]
    selectable: Annotated[int, "Of the skills: those that a request can choose."]
    by_name_only: Annotated[int, "Of the skills: those that only an explicit @name chooses."]
    shadowed: Annotated[int, "Of the skills: those that lose to another of the same name."]
    lacking: Annotated[int, "Of the skills: those whose requirements are not met here."]
    copies: Annotated[int, "Further places of skills, with the same bytes."]
    conventions: Annotated[int, "AGENTS.md, CLAUDE.md and kin."]
    files: Annotated[int, "All files that loaded."]
