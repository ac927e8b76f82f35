"""A library with an index in memory, built from a catalog or a list of skills."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from skillyard.engine.index.document_builder import build_documents
from skillyard.engine.index.library import Library
from skillyard.engine.index.memory_segments import build_memory_segments
from skillyard.engine.index.token_table import bundled_table
from skillyard.engine.skill import Origin, Skill


class MemoryLibrary(Library):
    """A library with an index built in memory."""

    def __init__(self, skills: Iterable[Skill], *, include_conventions: bool = False) -> None:
        shadowed = getattr(skills, "shadowed", {})
        self.skills = tuple(skills)
        self.table = bundled_table()
        out = frozenset(
            place
            for place, skill in enumerate(self.skills)
            if skill.hidden
            or skill in shadowed
            or (skill.origin == Origin.CONVENTION and not include_conventions)
        )
        documents = build_documents(self.skills, self.table, out)
        # Keys break ties, so they must equal those of an index on disk.
        below: Callable[[Skill], str | None] = getattr(skills, "below", lambda _: None)
        keyed = (
            d._replace(key=below(self.skills[place]) or f"{d.key}\0{place}")
            for place, d in enumerate(documents)
        )
        self.searcher = build_memory_segments(keyed, self.table.dimensions)
        self._ordinals = tuple(self.searcher.ordinals())
        self._place_of = dict(zip(self._ordinals, range(len(self.skills)), strict=True))
        self._hidden = [
            (self._ordinals[place], skill)
            for place, skill in enumerate(self.skills)
            if skill.hidden and skill not in shadowed
        ]
        self._places = {
            id(skill): ordinal for ordinal, skill in zip(self._ordinals, self.skills, strict=True)
        }

    def skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal."""
        return self.skills[self._place_of[ordinal]]

    def ordinal(self, skill: Skill) -> int | None:
        """Return the ordinal of a skill."""
        return self._places.get(id(skill))

    def hidden(self) -> Iterable[tuple[int, Skill]]:
        """Yield (ordinal, skill) of the skills that are selected only when called by name."""
        return self._hidden

    def patterns(self) -> Mapping[int, tuple[str, ...]]:
        """Return the file patterns of skills by ordinal; skills without patterns are left out."""
        return {
            ordinal: skill.triggers.files
            for ordinal, skill in zip(self._ordinals, self.skills, strict=True)
            if skill.triggers.files and self.searcher.flags(ordinal) == 0
        }
