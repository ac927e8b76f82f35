"""The protocol of scorers: explanations, levels, names, plug-ins, and binding once."""

from __future__ import annotations

import gc
import importlib.metadata
import weakref
from collections.abc import Iterable
from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.ranking.overlap import OVERLAP, BoundOverlap, Overlap
from skillyard.engine.ranking.registry import bind, resolve
from skillyard.engine.ranking.scorer import level_of
from skillyard.scorers import Level, Scored
from tests.tables import for_each
from tests.worked_examples.making import catalog, skill

LEAF = sy.scorers.Explanation("name", 2.0, (), "leaf", "a b")


class TestExplanation:
    def test_its_json_shape_leaves_out_what_is_empty(self) -> None:
        tree = sy.scorers.Explanation("all", 2.0, (LEAF,))
        assert tree.to_dict() == {
            "label": "all",
            "value": 2.0,
            "op": "sum",
            "parts": [{"label": "name", "value": 2.0, "op": "leaf", "note": "a b"}],
        }


class Fixed(Scored):
    """Scores that explain themselves by the parts they are given."""

    def __init__(self, *parts: sy.scorers.Explanation) -> None:
        self.parts = parts

    def scores(self) -> list[tuple[sy.Skill, float]]:
        return []

    def explain(self, skill: sy.Skill) -> sy.scorers.Explanation:
        return sy.scorers.Explanation("all", sum(part.value for part in self.parts), self.parts)


def test_a_reason_names_the_parts_that_count_the_largest_first() -> None:
    parts = (
        sy.scorers.Explanation("small", 1.0, (), "leaf"),
        sy.scorers.Explanation("none", 0.0, (), "leaf", "nothing"),
        sy.scorers.Explanation("large", 3.0, (), "leaf", "x, y"),
    )
    assert Fixed(*parts).reason(skill()) == "large: x, y | small"
    assert Fixed().reason(skill()) == ""


def test_without_a_word_from_the_scorer_skills_share_a_tier_and_a_tie() -> None:
    assert (Fixed().tier(skill()), Fixed().tie_break(skill()), Fixed.tiered) == (0, (), False)


@for_each(
    ("score", "level"), [(5.0, "high"), (4.99, "mid"), (1.0, "mid"), (0.5, "low"), (-1.0, "low")]
)
def test_a_level_holds_from_its_floor_upwards(score: float, level: str) -> None:
    assert level_of((Level(5, "high"), Level(1, "mid"), Level(0, "low")), score) == level


def test_a_scorer_without_levels_gives_none() -> None:
    assert level_of((), 5.0) is None


class Point:
    """An entry point as an installed package has one."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value

    def load(self) -> Any:
        return self.value


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> list[Point]:
    points: list[Point] = []

    def entry_points(*, group: str) -> list[Point]:
        return points if group == "skillyard.scorers" else []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    return points


class TestNames:
    @for_each("name", ["confidence", "overlap", "relevance", "triggers"])
    def test_a_built_in_name_gives_its_scorer(self, name: str) -> None:
        scorer = resolve(name)
        assert isinstance(scorer, sy.scorers.Scorer)
        assert scorer.name == name
        assert scorer.default_policy.top_k >= 1
        assert list(scorer.levels) == sorted(scorer.levels, reverse=True)
        assert scorer.scale in {"0..1", "points", "open"}

    def test_installed_packages_add_names(self, plugins: list[Point]) -> None:
        plugins.append(Point("mine", Overlap(name_weight=9.0)))
        assert sy.scorers.scorer_names() == (
            "confidence",
            "hybrid",
            "mine",
            "overlap",
            "relevance",
            "triggers",
        )
        assert resolve("mine") == Overlap(name_weight=9.0)

    def test_no_package_can_take_a_built_in_name(self, plugins: list[Point]) -> None:
        plugins.append(Point("overlap", Overlap(name_weight=9.0)))
        assert resolve("overlap") is OVERLAP

    @for_each("wrong", [None, 5, object()])
    def test_anything_else_is_refused(self, wrong: object) -> None:
        with pytest.raises(sy.errors.InvalidInput, match="scorer must be a name"):
            resolve(wrong)


class TestBind:
    def test_a_catalog_is_bound_once_for_each_scorer(self) -> None:
        skills = catalog(skill("a"))
        assert bind(skills, OVERLAP) is bind(skills, Overlap())
        assert bind(skills, OVERLAP) is not bind(skills, Overlap(name_weight=1.0))
        assert bind(catalog(skill("a")), OVERLAP) is not bind(skills, OVERLAP)

    @for_each("scorer", ["confidence", "hybrid", "overlap", "relevance", "triggers"])
    def test_what_was_bound_goes_with_its_catalog(self, scorer: str) -> None:
        skills = catalog(skill("a"))
        sy.rank(skills, "x", scorer=scorer)
        gone = [weakref.ref(skills), *map(weakref.ref, skills.bound.values())]
        assert len(gone) == 2
        del skills
        gc.collect()
        assert [each() for each in gone] == [None, None]

    def test_a_scorer_that_cannot_be_hashed_is_bound_anew(self) -> None:
        class Unhashable(Overlap):
            __hash__ = None  # type: ignore[assignment]

            def bind(self, skills: Iterable[sy.Skill]) -> BoundOverlap:
                return BoundOverlap(self, tuple(skills))

        skills = catalog(skill("a"))
        assert bind(skills, Unhashable()).skills == skills.skills
