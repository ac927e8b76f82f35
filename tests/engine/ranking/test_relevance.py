"""The relevance scorer: terms, the rules of the match, the five signals and the two tiers."""

from __future__ import annotations

import skillyard as sy
from skillyard.engine.ranking.field_hits import terms
from skillyard.engine.ranking.relevance import RELEVANCE
from skillyard.scorers import Scored
from tests.tables import for_each
from tests.worked_examples.making import catalog, skill


def score(query: str, *skills: sy.Skill, references: bool = False) -> Scored:
    return RELEVANCE.bind(skills).prepare(sy.Query(query, include_references=references))


def match(query: str, one: sy.Skill) -> float:
    """Return the query match of one skill in 0 to 1."""
    scored = score(query, one)
    (part,) = [part for part in scored.explain(one).parts if part.label == "query_match"]
    return part.value / 30.0


@for_each(
    ("text", "found"),
    [
        ("", []),
        ("  -_/ ", []),
        ("Deep-Research_2", ["deep", "research", "2"]),
        ("Straße ＧＰＴ ﬁx", ["strasse", "gpt", "fix"]),
        ("数据清洗", ["数据", "据清", "清洗"]),
        ("数据", ["数据"]),
        ("データx数", ["デー", "ータ", "x", "数"]),
        ("конвертер", ["конвертер"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("한국어", ["한국어"]),
    ],
)
def test_terms_are_folded_words_and_pairs_of_unspaced_scripts(text: str, found: list[str]) -> None:
    assert terms(text) == found


class TestOrder:
    def test_equal_points_go_by_match_installs_curated_source_id_name_and_path(self) -> None:
        same = {"description": "x", "body": "y"}
        skills = [
            skill("n5", source="b", slug="s1", path="1", **same),
            skill("n4", source="a", slug="s2", path="2", **same),
            skill("n3", source="a", slug="s1", path="3", **same),
            skill("n2", curated=True, source="z", path="4", **same),
            skill("n1", install_count=-1, path="5", **same),
            skill("n3", source="a", slug="s1", path="0", **same),
        ]
        matches = sy.rank(catalog(*skills), "", scorer="relevance", limit=None)
        assert len({match.score for match in matches}) == 1
        assert [match.skill.path for match in matches] == ["4", "0", "3", "2", "1", "5"]
