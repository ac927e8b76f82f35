"""The one protocol of every scorer.

In a module of its own, which loads when somebody asks whether an object is a scorer: making
protocols loads ``typing``, and a scorer that is named needs none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from skillyard.ranking.query import Query
from skillyard.ranking.scorer import DefaultPolicy, Level, Scored
from skillyard.skill import Skill

__all__ = ["BoundScorer", "Scorer"]


class BoundScorer(Protocol):
    """A scorer bound to one snapshot of skills."""

    @property
    def skills(self) -> Sequence[Skill]:
        """The skills it was bound to, in catalog order."""
        ...

    def prepare(self, query: Query) -> Scored:
        """Score the query; what depends on other candidates is settled here."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """A ranking formula with its constants."""

    @property
    def name(self) -> str:
        """The registered name."""
        ...

    @property
    def scale(self) -> str:
        """What the numbers mean: ``0..1``, ``points`` or ``open``."""
        ...

    @property
    def levels(self) -> tuple[Level, ...]:
        """Named bands, highest floor first; empty when the document names none."""
        ...

    @property
    def default_policy(self) -> DefaultPolicy:
        """Threshold, count and tie-break of the scorer's document."""
        ...

    def bind(self, skills: Iterable[Skill]) -> BoundScorer:
        """Precompute what depends on the skills alone."""
        ...
