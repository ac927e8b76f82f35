"""Custom rankers as scorers, and scorers as rankers."""

from __future__ import annotations

from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.ranking.ranker import RankedSkill
from skillyard.engine.ranking.registry import resolve
from tests.worked_examples.making import catalog, skill

SKILLS = catalog(skill("a", "one"), skill("b", "two"), skill("c", "three"))


class ByScore:
    """Gives each skill a score by its name and returns the best first."""

    name = "by-score"

    def __init__(self, **scores: float) -> None:
        self.scores = scores
        self.seen: list[Any] = []

    def rank(
        self, skills: list[RankedSkill], query: str = "", include_references: bool = False
    ) -> list[RankedSkill]:
        self.seen.append((query, include_references))
        kept = [view for view in skills if view.title in self.scores]
        for view in kept:
            view.relevance_score = self.scores[view.title]
        return sorted(kept, key=lambda view: -view.relevance_score)


class TestRankerAsScorer:
    def test_its_order_and_its_scores_are_kept(self) -> None:
        ranker = ByScore(a=1, b=3, c=2)
        matches = sy.rank(SKILLS, "x", include_references=True, scorer=ranker)
        assert [(match.skill.name, match.score) for match in matches] == [
            ("b", 3.0),
            ("c", 2.0),
            ("a", 1.0),
        ]
        assert ranker.seen == [("x", True)]
        assert (matches[0].level, matches[0].signals) == (None, {})
        assert matches[0].explanation.note == "place 1 of the ranker"
        assert matches[0].explanation.value == 3.0

    def test_a_skill_that_it_left_out_says_so_and_would_come_last(self) -> None:
        scored = resolve(ByScore(b=1)).bind(SKILLS.skills).prepare(sy.Query("x"))
        one, two, _ = SKILLS.skills
        assert scored.explain(one).note == "left out by the ranker"
        assert scored.explain(one).value == 0.0
        assert scored.tier(one) > scored.tier(two)

    def test_it_must_return_what_it_was_given(self) -> None:
        class Wrong:
            def rank(self, skills: Any, query: str = "", include_references: bool = False) -> Any:
                return [view.skill for view in skills]

        with pytest.raises(sy.errors.InvalidInput, match=r"Ranker\.rank must return"):
            sy.rank(SKILLS, "x", scorer=Wrong())

    def test_it_sees_the_documented_fields_of_a_skill(self) -> None:
        full = sy.Skill(
            "n", "d", "body", id="i", slug="s", title="T", version="1", source="o/r",
            allowed_tools=("t",), install_count=5, curated=True, metadata={"k": 1},
            references=(sy.types.Reference("r", "r.md"),),
        )  # fmt: skip
        view = RankedSkill(full)
        assert (view.id, view.title, view.description, view.content) == ("s", "T", "d", "body")
        assert (view.version, view.source, view.install_count) == ("1", "o/r", 5)
        assert (view.allowed_tools, view.metadata, view.curated) == (["t"], {"k": 1}, True)
        assert [reference.path for reference in view.references] == ["r.md"]
        assert (view.relevance_score, view.skill) == (0.0, full)


class TestScorerAsRanker:
    def test_skills_come_back_best_first_and_all_of_them(self) -> None:
        ranker = sy.scorers.ScorerRanker("overlap")
        given = [skill("a", "x"), skill("two", "x"), skill("three", "two")]
        assert [one.name for one in ranker.rank(given, "two")] == ["two", "three", "a"]

    def test_a_wrong_name_is_an_error_of_the_call(self) -> None:
        with pytest.raises(sy.errors.UnknownName):
            sy.scorers.ScorerRanker("nope").rank([skill()])
