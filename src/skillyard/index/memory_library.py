"""A library whose index is made on the spot, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skillyard.index.building import documents_of
from skillyard.index.library import Library
from skillyard.index.memory import MemorySearcher
from skillyard.index.table import bundled
from skillyard.skill import Origin, Skill

__all__ = ["MemoryLibrary"]


class MemoryLibrary(Library):
    """A library whose index is made on the spot."""

    def __init__(self, skills: Iterable[Skill], *, include_conventions: bool = False) -> None:
        shadowed = getattr(skills, "shadowed", {})
        self.skills = tuple(skills)
        self.table = bundled()
        out = frozenset(
            place
            for place, skill in enumerate(self.skills)
            if skill.hidden
            or skill in shadowed
            or (skill.origin == Origin.CONVENTION and not include_conventions)
        )
        documents = documents_of(self.skills, self.table, out)
        self.searcher = MemorySearcher(
            (d._replace(key=f"{d.key}\0{place}") for place, d in enumerate(documents)),
            self.table.dimensions,
        )
        self._hidden = [
            (place, skill)
            for place, skill in enumerate(self.skills)
            if skill.hidden and skill not in shadowed
        ]
        self._places = {id(skill): place for place, skill in enumerate(self.skills)}

    def skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal."""
        return self.skills[ordinal]

    def ordinal(self, skill: Skill) -> int | None:
        """Return the ordinal of a skill."""
        return self._places.get(id(skill))

    def hidden(self) -> Iterable[tuple[int, Skill]]:
        """Yield the skills that only an explicit call chooses."""
        return self._hidden

    def patterns(self) -> Mapping[int, tuple[str, ...]]:
        """Return by ordinal the file patterns of the skills that declare some."""
        return {
            place: skill.triggers.files
            for place, skill in enumerate(self.skills)
            if skill.triggers.files and self.searcher.flags(place) == 0
        }
