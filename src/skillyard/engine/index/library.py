"""A library: skills together with the index that searches them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from skillyard.engine.index.identity import document_key
from skillyard.engine.index.segment_searcher import SegmentSearcher
from skillyard.engine.index.token_table import TokenTable
from skillyard.engine.skill import Skill


class Library(ABC):
    """The skills and the index that a bound scorer uses."""

    searcher: SegmentSearcher
    table: TokenTable
    skills: Sequence[Skill]

    @abstractmethod
    def skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal."""

    def full_skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal with its body loaded."""
        return self.skill(ordinal)

    def ordinal(self, skill: Skill) -> int | None:
        """Return the ordinal of a skill, or None when the index does not contain it."""
        return self.searcher.ordinal(document_key(skill))

    @abstractmethod
    def hidden(self) -> Iterable[tuple[int, Skill]]:
        """Yield (ordinal, skill) of the skills that are selected only when called by name."""

    @abstractmethod
    def patterns(self) -> Mapping[int, tuple[str, ...]]:
        """Return the file patterns of skills by ordinal; skills without patterns are left out."""
