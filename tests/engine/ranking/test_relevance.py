"""The relevance scorer: terms, the rules of the match, the five signals and the two tiers."""

from __future__ import annotations

import pytest

import skillyard as sy
from skillyard import Scored
from skillyard.engine.ranking.field_hits import terms
from skillyard.engine.ranking.relevance import RELEVANCE, Relevance
from tests.tables import for_each
from tests.worked_examples.making import catalog, names, skill


def score(query: str, *skills: sy.Skill, references: bool = False) -> Scored:
    return RELEVANCE.bind(skills).prepare(sy.Query(query, include_references=references))


def match(query: str, one: sy.Skill) -> float:
    """Return the query match of one skill in 0 to 1."""
    scored = score(query, one)
    (part,) = [part for part in scored.explain(one).parts if part.label == "query_match"]
    return part.value / 30.0


def made(
    slug: str = "qq", title: str = "Zz", description: str = "Ww.", body: str = "vv"
) -> sy.Skill:
    return skill("n", description, body, slug=slug, title=title)


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


class TestMatch:
    @for_each(
        ("query", "fields", "value"),
        [
            ("gpt  researcher", {"slug": "gpt-researcher"}, 1.0),
            ("GPT_Researcher", {"slug": "gpt-researcher"}, 1.0),
            (" gpt/researcher ", {"slug": "gpt-researcher"}, 1.0),
            ("researcher gpt", {"slug": "gpt-researcher"}, 0.9),
            ("research", {"slug": "gpt-researcher"}, 0.9),
            ("gpt-researcher deep", {"slug": "gpt-researcher"}, 0.85),
            ("deep research", {"title": "Deep Research Tool"}, 0.8),
            ("deep research", {"slug": "deep", "title": "Research Tool"}, 0.85),
            ("deep research now", {"slug": "deep-x", "title": "Research Now"}, 0.75),
            ("alpha beta", {"description": "alpha, beta."}, 0.7),
            ("alpha beta", {"slug": "alpha-x"}, 0.25),
            ("alpha beta", {"title": "Alpha"}, 0.25),
            ("alpha beta gamma", {"description": "alpha beta"}, 0.35 * 2 / 3),
            ("alpha beta", {"body": "some alpha"}, 0.075),
            ("alpha beta", {"body": "beta alpha"}, 0.15),
            ("alpha", {"body": "x" * 1_999 + " alpha"}, 0.0),
            ("search", {"slug": "gpt-researcher"}, 0.0),
            ("testing", {"title": "tests"}, 0.8),
            ("cat", {"title": "category"}, 0.0),
            ("cate", {"title": "category"}, 0.8),
            ("react react perf", {"slug": "react-x"}, 0.25),
            ("   ", {"slug": "x"}, 0.0),
            ("!?", {"slug": "x"}, 0.0),
        ],
    )
    def test_the_best_rule_that_applies_is_the_match(
        self, query: str, fields: dict[str, str], value: float
    ) -> None:
        assert match(query, made(**fields)) == pytest.approx(value)

    def test_an_id_without_a_term_matches_nothing(self) -> None:
        assert match("anything", made(slug="--")) == 0.0

    def test_the_title_is_the_name_where_there_is_none(self) -> None:
        one = skill("Deep Research", "x", slug="qq")
        assert match("research deep", one) == pytest.approx(0.8)


class TestSignals:
    def test_the_five_signals_add_up(self) -> None:
        one = skill("deep", "x", references=["r.md"], install_count=9_999, curated=True)
        scored = score("deep", one, references=True)
        tree = scored.explain(one)
        assert {part.label: part.value for part in tree.parts} == {
            "content": 40.0,
            "references": 15.0,
            "query_match": 30.0,
            "popularity": 15.0,
            "curated_boost": 8.0,
        }
        assert scored.scores() == [(one, 108.0)]
        assert tree.value == 108.0

    @for_each("body", [None, "", " \n"])
    def test_a_skill_without_content_has_no_content_points(self, body: str | None) -> None:
        one = skill("deep", "x", body)
        assert dict(score("", one).scores())[one] == 0.0
        assert score("", one).explain(one).parts[0].note == "no content"

    @for_each(
        ("installs", "points"),
        [(-5, 0.0), (0, 0.0), (9, 3.75), (99, 7.5), (999, 11.25), (9_999, 15.0), (10**9, 15.0)],
    )
    def test_popularity_is_logarithmic_and_full_at_ten_thousand(
        self, installs: int, points: float
    ) -> None:
        assert RELEVANCE.popularity(installs) == pytest.approx(points)

    def test_the_rules_that_apply_are_listed_best_first(self) -> None:
        one = made(slug="deep-research", title="Deep Research")
        part = score("deep research", one).explain(one).parts[2]
        assert [(leaf.label, round(leaf.value, 6)) for leaf in part.parts] == [
            ("query is the id", 30.0),
            ("every term in the id", 27.0),
            ("every id term in the query", 25.5),
            ("every term in the title", 24.0),
            ("every term in id or title", 22.5),
        ]
        assert (part.op, part.note) == ("max", "query is the id")

    @for_each("query", ["", "  ", "!?", "unheard"])
    def test_without_a_term_that_matches_no_rule_applies(self, query: str) -> None:
        part = score(query, made()).explain(made()).parts[2]
        assert [(leaf.label, leaf.value) for leaf in part.parts] == [("no match", 0.0)]
        assert part.value == max(leaf.value for leaf in part.parts)

    def test_every_skill_has_a_score(self) -> None:
        skills = [skill("a"), skill("b", body=None)]
        assert [value for _, value in score("unheard", *skills).scores()] == [40.0, 0.0]
        assert score("x").scores() == []


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

    def test_the_better_match_goes_first_where_points_are_equal(self) -> None:
        scorer = Relevance(match_points=0.0)
        skills = catalog(skill("aa", "x"), skill("deep", "x"))
        assert names(sy.rank(skills, "deep", scorer=scorer)) == ["deep", "aa"]
