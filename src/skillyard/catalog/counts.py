"""How many skills a catalog has: the numbers that every surface prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skillyard.catalog.copies import is_copy
from skillyard.skill import Origin, Skill
from skillyard.text import plural
from skillyard.value import NamedTuple

__all__ = ["SkillCounts", "count_skills"]


class SkillCounts(NamedTuple):
    """How many skills a catalog has, and what lies beside them; each file is counted once."""

    skills: int
    """Distinct skills in use: without convention documents, shadowed skills and copies."""
    by_name_only: int
    """Of the skills: those that only an explicit ``@name`` chooses."""
    shadowed: int
    """Other skills that lose to one of the same name; they load by their id."""
    copies: int
    """Further places of skills: the same name and the same bytes."""
    conventions: int
    """AGENTS.md, CLAUDE.md and kin."""

    @property
    def selectable(self) -> int:
        """Skills that a request can choose without naming them."""
        return self.skills - self.by_name_only

    @property
    def files(self) -> int:
        """Files that loaded."""
        return self.skills + self.shadowed + self.copies + self.conventions

    def to_dict(self) -> dict[str, int]:
        """Return the JSON shape, the same on every surface."""
        return {
            "skills": self.skills,
            "selectable": self.selectable,
            "by_name_only": self.by_name_only,
            "shadowed": self.shadowed,
            "copies": self.copies,
            "conventions": self.conventions,
            "files": self.files,
        }

    @property
    def apart(self) -> str:
        """What is not counted among the skills, in words; empty when that is nothing."""
        said = [f"{self.shadowed:,} shadowed"] if self.shadowed else []
        said += [_number(self.copies, "copy", "copies")] if self.copies else []
        said += [plural(self.conventions, "convention document")] if self.conventions else []
        return ", ".join(said)

    @property
    def words(self) -> str:
        """All of it on one line: ``38 skills (2 by name only); not counted: 1 shadowed``."""
        only = f" ({self.by_name_only:,} by name only)" if self.by_name_only else ""
        apart = f"; not counted: {self.apart}" if self.apart else ""
        return f"{plural(self.skills, 'skill')}{only}{apart}"


def _number(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def count_skills(skills: Iterable[Skill], shadowed: Mapping[Skill, Skill]) -> SkillCounts:
    """Count the skills of a catalog; ``shadowed`` gives each loser its winner."""
    distinct = by_name = conventions = 0
    for skill in skills:
        if skill in shadowed:
            continue
        if skill.origin == Origin.CONVENTION:
            conventions += 1
        else:
            distinct += 1
            by_name += skill.hidden
    copies = sum(is_copy(loser, winner) for loser, winner in shadowed.items())
    return SkillCounts(distinct, by_name, len(shadowed) - copies, copies, conventions)
