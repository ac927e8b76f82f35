"""Rankings: who is a candidate, the total order, and what a match shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.ranking.match import Pair, in_order
from skillyard.scorers import Scored
from tests.parity.trees import write_tree
from tests.tables import for_each
from tests.worked_examples.making import document, skill

SCORERS = ["confidence", "hybrid", "overlap", "relevance", "triggers"]


class Given(Scored):
    """An order that is given: tier and tie-break by the fields of a skill."""

    def __init__(self, *, tiered: bool = False) -> None:
        self.tiered = tiered

    def scores(self) -> list[Pair]:
        return []

    def explain(self, skill: sy.Skill) -> sy.scorers.Explanation:
        return sy.scorers.Explanation("given", 0.0)

    def tier(self, skill: sy.Skill) -> int:
        return skill.priority

    def tie_break(self, skill: sy.Skill) -> tuple[Any, ...]:
        return (skill.title or "",)


class TestOrder:
    def test_score_tie_break_name_and_path_decide_in_this_order(self) -> None:
        pairs = [
            (skill("b", path="1"), 1.0),
            (skill("a", path="2"), 1.0),
            (skill("a", path="1"), 1.0),
            (skill("z", title=" first"), 1.0),
            (skill("c"), 2.0),
        ]
        ordered = in_order(pairs, Given())
        # A title sorts behind no title, and the four without one go by name and path.
        assert [(one.name, one.path) for one, _ in ordered] == [
            ("c", ".skills/c.md"),
            ("a", "1"),
            ("a", "2"),
            ("b", "1"),
            ("z", ".skills/z.md"),
        ]

    def test_a_tier_goes_before_every_score(self) -> None:
        pairs = [(skill("low", priority=1), 9.0), (skill("top"), 1.0), (skill("mid"), 0.5)]
        assert [one.name for one, _ in in_order(pairs, Given(tiered=True))] == ["top", "mid", "low"]
        assert [one.name for one, _ in in_order(pairs, Given())] == ["low", "top", "mid"]

    @for_each("tiered", [True, False])
    def test_a_limit_gives_the_head_of_the_whole_order(self, tiered: bool) -> None:
        pairs = [
            (skill(f"s{number}", priority=number % 3), float(number % 7)) for number in range(60)
        ]
        scored = Given(tiered=tiered)
        whole = in_order(pairs, scored)
        assert len(whole) == 60
        for limit in range(62):
            assert in_order(pairs, scored, limit) == whole[:limit]
        assert in_order(pairs, scored, -1) == []


class TestCandidates:
    def test_shadowed_skills_are_left_out(self, tmp_path: Path) -> None:
        files = {"deploy/SKILL.md": document("deploy"), ".skills/deploy.md": document("deploy")}
        skills = sy.load_catalog(write_tree(tmp_path / "p", files))
        for scorer in SCORERS:
            found = sy.rank(skills, "deploy", scorer=scorer)
            assert [match.skill.origin for match in found] == ["runtime"], scorer


class TestRank:
    @for_each("limit", [-1, 1.5, True, "10"])
    def test_a_limit_is_a_count_or_none(self, limit: Any) -> None:
        with pytest.raises(sy.errors.InvalidInput, match="limit"):
            sy.rank([], "x", limit=limit)


class TestMatch:
    @pytest.fixture
    def match(self) -> sy.Match:
        one = skill("deploy", "Deploy apps.", "zz", title="T", slug="s", id="i", path="p")
        (found,) = sy.rank([one], "deploy apps", scorer="overlap")
        return found

    def test_it_shows_the_score_its_level_and_its_grounds(self, match: sy.Match) -> None:
        assert (match.score, match.level) == (9.0, "high")
        assert match.signals == {"name": 4.0, "description": 5.0}
        assert match.reason == "description: deploy, apps | name: deploy"
        assert match.explanation is match.explanation
        assert match.explanation.value == match.score
        assert repr(match) == "Match('deploy', 9, 'high')"

    def test_its_json_shape_is_the_documented_one(self, match: sy.Match) -> None:
        shape = match.to_dict()
        assert list(shape) == ["name", "id", "slug", "path", "score", "level", "reason", "signals"]
        explained = match.to_dict(explain=True)
        assert explained["explanation"] == match.explanation.to_dict()
        assert json.loads(json.dumps(explained)) == explained
