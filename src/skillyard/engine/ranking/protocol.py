"""The scorer protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.scorer import DefaultPolicy, Level, Scored
from skillyard.engine.skill import Skill


class BoundScorer(Protocol):
    """A scorer bound to one snapshot of skills."""

    @property
    def skills(self) -> Sequence[Skill]:
        """The skills it was bound to, in catalog order."""
        ...

    def prepare(self, query: Query) -> Scored:
        """Score the query. Everything that depends on other candidates is computed here."""
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
        """The scale of the scores: ``0..1``, ``points`` or ``open``."""
        ...

    @property
    def levels(self) -> tuple[Level, ...]:
        """Named bands, highest floor first; may be empty."""
        ...

    @property
    def default_policy(self) -> DefaultPolicy:
        """Default threshold, count and tie-break."""
        ...

    def bind(self, skills: Iterable[Skill]) -> BoundScorer:
        """Precompute what depends on the skills alone."""
        ...
