"""How many skills a catalog has: the numbers that every surface prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from skillyard.catalog.copies import is_copy
from skillyard.shapes.encoder import encode, from_attributes
from skillyard.skill import Origin, Skill
from skillyard.text import plural

if TYPE_CHECKING:
    from skillyard.shapes.counts import SkillCounts as Shape

__all__ = ["NO_SKILLS", "SkillCounts", "count_skills"]


class SkillCounts(NamedTuple):
    """How many skills a catalog has, and what lies beside them; each file is counted once."""

    skills: int
    """Distinct skills: without copies and convention documents."""
    by_name_only: int
    """Of the skills: those that only an explicit ``@name`` chooses."""
    shadowed: int
    """Of the skills: those that lose to another of the same name; they load by their id."""
    copies: int
    """Further places of skills: the same name and the same bytes."""
    conventions: int
    """AGENTS.md, CLAUDE.md and kin."""

    @property
    def selectable(self) -> int:
        """Skills that a request can choose without naming them."""
        return self.skills - self.by_name_only - self.shadowed

    @property
    def files(self) -> int:
        """Files that loaded."""
        return self.skills + self.copies + self.conventions

    def to_dict(self) -> dict[str, int]:
        """Return the JSON shape, the same on every surface."""
        members: dict[str, int] = encode(self.document())
        return members

    def document(self) -> Shape:
        """Return the counts as a document shows them."""
        from skillyard.shapes.counts import SkillCounts as Shape

        return from_attributes(Shape, self)

    @property
    def left_out(self) -> str:
        """Which skills no request chooses, in words: ``2 by name only, 1 shadowed``; or empty."""
        said = [f"{self.by_name_only:,} by name only"] if self.by_name_only else []
        said += [f"{self.shadowed:,} shadowed"] if self.shadowed else []
        return ", ".join(said)

    @property
    def words(self) -> str:
        """All of it: ``39 skills (2 by name only, 1 shadowed), 2 convention documents``."""
        said = [plural(self.skills, "skill") + (f" ({self.left_out})" if self.left_out else "")]
        said += [f"{self.copies:,} {'copy' if self.copies == 1 else 'copies'}"] * bool(self.copies)
        if self.conventions:
            said.append(plural(self.conventions, "convention document"))
        return ", ".join(said)


NO_SKILLS = SkillCounts(0, 0, 0, 0, 0)
"""The counts of an empty catalog."""


def count_skills(skills: Iterable[Skill], shadowed: Mapping[Skill, Skill]) -> SkillCounts:
    """Count the skills of a catalog; ``shadowed`` gives each loser its winner."""
    distinct = by_name = lost = copies = conventions = 0
    for skill in skills:
        winner = shadowed.get(skill)
        if winner is not None and is_copy(skill, winner):
            copies += 1
        elif skill.origin == Origin.CONVENTION:
            conventions += 1
        else:
            distinct += 1
            lost += winner is not None
            by_name += winner is None and skill.hidden
    return SkillCounts(distinct, by_name, lost, copies, conventions)
