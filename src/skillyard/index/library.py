"""A library: skills together with the index that finds them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from skillyard.index.identity import document_key
from skillyard.index.searcher import Searcher
from skillyard.index.token_table import TokenTable
from skillyard.skill import Skill

__all__ = ["Library"]


class Library(ABC):
    """What a bound scorer asks of the place where skills and their index are kept."""

    searcher: Searcher
    table: TokenTable
    skills: Sequence[Skill]

    @abstractmethod
    def skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal."""

    def full_skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal with its instructions, where they are elsewhere."""
        return self.skill(ordinal)

    def ordinal(self, skill: Skill) -> int | None:
        """Return the ordinal of a skill, or None when the index does not hold it."""
        return self.searcher.ordinal(document_key(skill))

    @abstractmethod
    def hidden(self) -> Iterable[tuple[int, Skill]]:
        """Yield the skills that only an explicit call chooses."""

    @abstractmethod
    def patterns(self) -> Mapping[int, tuple[str, ...]]:
        """Return by ordinal the file patterns of the skills that declare some."""
