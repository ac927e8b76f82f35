"""The numbers of skills in a catalog, as every surface prints them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.shapes.encoder import encode, from_attributes
from skillyard.base.text import plural
from skillyard.engine.skill import Origin, Skill

if TYPE_CHECKING:
    from skillyard.base.shapes.details import SkillCountsDocument as Shape


class SkillCounts(NamedTuple):
    """The numbers of skills, further places and convention documents. Each file counts once."""

    skills: int
    """Distinct skills: without further places and convention documents."""
    by_name_only: int
    """Skills that only an explicit ``@name`` selects."""
    shadowed: int
    """Skills that lose to another one of the same name. They can be loaded by id."""
    copies: int
    """Further places of a skill: files with its name, and its bytes or nearly its text."""
    conventions: int
    """Convention documents such as AGENTS.md and CLAUDE.md."""
    lacking: int = 0
    """Other skills that no request selects, because a requirement of theirs is not met here."""

    @property
    def selectable(self) -> int:
        """Skills that a request can select without naming them."""
        return self.skills - self.by_name_only - self.shadowed - self.lacking

    @property
    def files(self) -> int:
        """Files that loaded."""
        return self.skills + self.copies + self.conventions

    def to_dict(self) -> dict[str, int]:
        """Return the JSON shape, the same on every surface."""
        members: dict[str, int] = encode(self.document())
        return members

    def document(self) -> "Shape":
        """Return the counts as a document shows them."""
        from skillyard.base.shapes.details import SkillCountsDocument as Shape

        return from_attributes(Shape, self)

    @property
    def left_out(self) -> str:
        """The skills that no request selects, as text: ``2 by name only, 1 shadowed``; or empty."""
        parts = [f"{self.by_name_only:,} by name only"] if self.by_name_only else []
        parts += [f"{self.shadowed:,} shadowed"] if self.shadowed else []
        parts += [f"{self.lacking:,} without what they require"] if self.lacking else []
        return ", ".join(parts)

    @property
    def words(self) -> str:
        """All counts: ``39 skills (2 by name only, 1 shadowed), 2 convention documents``."""
        parts = [plural(self.skills, "skill") + (f" ({self.left_out})" if self.left_out else "")]
        parts += [f"{self.copies:,} {'copy' if self.copies == 1 else 'copies'}"] * bool(self.copies)
        if self.conventions:
            parts.append(plural(self.conventions, "convention document"))
        return ", ".join(parts)


NO_SKILLS = SkillCounts(0, 0, 0, 0, 0)
"""The counts of an empty catalog."""


def count_skills(
    skills: Iterable[Skill],
    shadowed: Mapping[Skill, Skill],
    further: Collection[str],
    lack: Callable[[Skill], str],
) -> SkillCounts:
    """Count the skills of a catalog.

    ``shadowed`` maps each losing skill to its winner, ``further`` are the paths of the copies and
    variants; ``lack`` says which requirement of a skill is not met
    (:class:`~skillyard.engine.catalog.requirements.RequirementChecker`).
    """
    distinct = by_name = shadow_losers = copies = conventions = lacking = 0
    for skill in skills:
        winner = shadowed.get(skill)
        if skill.path in further:
            copies += 1
        elif skill.origin == Origin.CONVENTION:
            conventions += 1
        else:
            distinct += 1
            shadow_losers += winner is not None
            by_name += winner is None and skill.hidden
            lacking += winner is None and not skill.hidden and bool(lack(skill))
    return SkillCounts(distinct, by_name, shadow_losers, copies, conventions, lacking)
