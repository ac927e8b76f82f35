"""Custom rankers: an adapter from Skyll's documented ``Ranker`` to a scorer.

Source: the Skyll ranking document, "Customizing Ranking": an object with ``rank(skills, query="",
include_references=False)`` that sets ``relevance_score`` on each skill and returns them best first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.scorer import DefaultPolicy, Explanation, Level, Scored
from skillyard.engine.skill import Reference, Skill


class RankedSkill:
    """A skill as passed to a custom ranker: Skyll's field names, and a score that it may set."""

    def __init__(self, skill: Skill) -> None:
        self.skill = skill
        self.id = skill.slug
        self.title = skill.title or skill.name
        self.description = skill.description
        self.content = skill.body
        self.version = skill.version
        self.allowed_tools = list(skill.allowed_tools)
        self.source = skill.source
        self.install_count = skill.install_count
        self.references: list[Reference] = list(skill.references)
        self.metadata = dict(skill.metadata)
        self.curated = skill.curated
        self.relevance_score: float = 0.0


class RankerScorer:
    """A scorer that calls a custom ranker. The result has the ranker's order and scores."""

    scale = "open"
    levels: tuple[Level, ...] = ()
    default_policy = DefaultPolicy(float("-inf"), 10, 0.0, "the ranker's own order")

    def __init__(self, ranker: Any) -> None:
        self._ranker = ranker
        self.name = str(getattr(ranker, "name", type(ranker).__name__))

    def __eq__(self, other: object) -> bool:
        # One ranker gives one scorer, so that the catalog is bound only once.
        return isinstance(other, RankerScorer) and other._ranker is self._ranker

    def __hash__(self) -> int:
        return id(self._ranker)

    def bind(self, skills: Iterable[Skill]) -> _BoundRanker:
        """Store the skills; the ranker gets all of them with each query."""
        return _BoundRanker(self._ranker, tuple(skills))


class _BoundRanker:
    def __init__(self, ranker: Any, skills: tuple[Skill, ...]) -> None:
        self._ranker = ranker
        self.skills: Sequence[Skill] = skills

    def prepare(self, query: Query) -> _ScoredRanker:
        views = [RankedSkill(skill) for skill in self.skills]
        ranked = list(self._ranker.rank(views, query.text, query.include_references))
        for view in ranked:
            if not isinstance(view, RankedSkill):
                raise InvalidInput("Ranker.rank must return the skills it was given")
        return _ScoredRanker(ranked)


class _ScoredRanker(Scored):
    tiered = True
    exhaustive = True

    def __init__(self, ranked: Sequence[RankedSkill]) -> None:
        self._place = {id(view.skill): place for place, view in enumerate(ranked)}
        self._pairs = [(view.skill, float(view.relevance_score)) for view in ranked]

    def scores(self) -> list[tuple[Skill, float]]:
        return self._pairs

    def tier(self, skill: Skill) -> int:
        return self._place.get(id(skill), len(self._pairs))

    def explain(self, skill: Skill) -> Explanation:
        place = self._place.get(id(skill))
        if place is None:
            return Explanation("ranker", 0.0, (), "leaf", "left out by the ranker")
        note = f"place {place + 1} of the ranker"
        return Explanation("ranker", self._pairs[place][1], (), "leaf", note)
