"""An adapter from a scorer to Skyll's documented ``Ranker``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput
from skillyard.engine.ranking.match import in_order
from skillyard.engine.ranking.protocol import Scorer
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.ranker import RankedSkill
from skillyard.engine.ranking.registry import bind, check_scorer, resolve
from skillyard.engine.skill import Skill


class ScorerRanker:
    """A ``Ranker`` over a scorer. It returns the skills best first, with their scores set."""

    def __init__(self, scorer: str | Scorer) -> None:
        check_scorer(scorer)
        self._scorer = scorer

    @check_arguments
    def rank(
        self, skills: Iterable[Any], query: str = "", include_references: bool = False
    ) -> list[Any]:
        """Return the given skills (Skill or RankedSkill) best first."""
        items = list(skills)
        by_skill = {id(_skill(item)): item for item in items}
        scorer = resolve(self._scorer)
        request = Query(query, include_references=include_references)
        scored = bind([_skill(item) for item in items], scorer).prepare(request)
        pairs = list(scored.scores())
        scored_ids = {id(skill) for skill, _ in pairs}
        pairs += [(_skill(item), 0.0) for item in items if id(_skill(item)) not in scored_ids]
        ranked = []
        for skill, score in in_order(pairs, scored):
            item = by_skill[id(skill)]
            if isinstance(item, RankedSkill):
                item.relevance_score = score
            ranked.append(item)
        return ranked


def _skill(item: Any) -> Skill:
    skill = getattr(item, "skill", item)
    if not isinstance(skill, Skill):
        raise InvalidInput(
            f"skills must hold Skill or RankedSkill values, not {type(item).__name__}",
            field="skills",
        )
    return skill
