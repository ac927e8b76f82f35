"""The triggers scorer: phrases, names and description words of a request."""

from __future__ import annotations

import skillyard as sy
from skillyard import Scored
from skillyard.engine.ranking.triggers import FUNCTION_WORDS, TRIGGERS, TriggerPhrases, normalise
from tests.tables import for_each
from tests.worked_examples.making import catalog, names, skill


def phrased(*phrases: str, name: str = "zz", description: str = "Qq.") -> sy.Skill:
    return skill(name, description, triggers=sy.Triggers(phrases=phrases))


def score(query: str, *skills: sy.Skill) -> Scored:
    return TRIGGERS.bind(skills).prepare(sy.Query(query))


def points(query: str, one: sy.Skill) -> float:
    return dict(score(query, one).scores()).get(one, 0.0)


@for_each(
    ("text", "words"),
    [
        ("", []),
        ("...", []),
        ("Code-Review, please!", ["code", "review", "please"]),
        ("snake_case C++ a€b", ["snake", "case", "c", "a", "b"]),
        ("ÄRGER «quoted» 数据，清洗", ["ärger", "quoted", "数据", "清洗"]),
    ],
)
def test_words_are_lower_case_without_punctuation_and_symbols(text: str, words: list[str]) -> None:
    assert normalise(text) == words


class TestPhrases:
    @for_each(
        ("phrase", "query", "hit"),
        [
            ("review code", "please review code", True),
            ("review code", "Review: CODE!", True),
            ("review code", "review the code", False),
            ("review code", "preview code", False),
            ("review code", "code review", False),
            ("test", "contest", False),
            ("代码审查", "请做代码审查吧", True),
            ("コード レビュー", "コード レビューして", True),
            ("한국어", "한국어를 써", True),
            ("豈", "x豈y", True),
            ("𠮷野", "a𠮷野b", True),
            ("", "anything", False),
            ("?!", "anything ?!", False),
        ],
    )
    def test_a_phrase_hits_as_whole_adjacent_words_and_unspaced_scripts_inside(
        self, phrase: str, query: str, hit: bool
    ) -> None:
        assert points(query, phrased(phrase)) == (10.0 if hit else 0.0)

    def test_each_distinct_phrase_counts_once_however_often_it_is_said(self) -> None:
        one = phrased("review", "Review!", "code review")
        assert points("code review, review review", one) == 20.0

    def test_skills_may_share_a_phrase(self) -> None:
        one, two = phrased("go now", name="aa"), phrased("go now", "go", name="bb")
        assert score("go now", one, two).scores() == [(one, 10.0), (two, 20.0)]


class TestWords:
    def test_distinct_words_of_the_description_count_once_each(self) -> None:
        one = skill("zz", "Bills and bills for the accounts.")
        assert points("bills, BILLS and accounts for the lot", one) == 2.0

    def test_words_that_say_nothing_do_not_count(self) -> None:
        one = skill("zz", " ".join(sorted(FUNCTION_WORDS)))
        assert points(" ".join(FUNCTION_WORDS), one) == 0.0

    def test_the_name_counts_once_as_a_phrase_and_the_id_does_not(self) -> None:
        one = skill("Code Review", "x", slug="cr")
        assert points("code review, Code-Review", one) == 20.0
        assert points("cr", one) == 0.0


class TestExplain:
    def test_the_tree_names_phrases_words_and_the_name(self) -> None:
        one = skill(
            "audit",
            "Checks bills.",
            priority=7,
            triggers=sy.Triggers(phrases=("run audit", "audit")),
        )
        scored = score("run audit on bills", one)
        tree = scored.explain(one)
        assert [(part.label, part.value, part.note) for part in tree.parts] == [
            ("triggers", 20.0, "run audit, audit"),
            ("description", 1.0, "bills"),
            ("name", 20.0, "audit"),
        ]
        assert [leaf.note for leaf in tree.parts[0].parts] == ["run audit", "audit"]
        assert (tree.value, tree.note) == (41.0, "priority 7")
        assert scored.reason(one).startswith("triggers: run audit, audit | name: audit")

    def test_a_skill_without_a_point_has_an_empty_tree(self) -> None:
        one = skill("zz", "Qq.")
        assert score("other", one).explain(one) == sy.Explanation("triggers", 0.0)


def test_equal_points_go_by_priority_then_by_id_in_bytes_then_by_name_and_path() -> None:
    skills = [
        skill("zz", "Bills.", slug="b", path="1"),
        skill("zy", "Bills.", slug="a-2", path="2"),
        skill("zx", "Bills.", slug="a-10", path="3"),
        skill("zw", "Bills.", slug="é", path="4"),
        skill("zv", "Bills.", slug="zzz", path="5", priority=1),
        skill("zu", "Bills.", slug="b", path="7"),
    ]
    matches = sy.rank(catalog(*skills), "bills", scorer="triggers")
    assert names(matches) == ["zv", "zx", "zy", "zu", "zz", "zw"]


def test_its_constants_can_be_set() -> None:
    own = TriggerPhrases(phrase_points=1.0, name_points=2.0, keyword_points=3.0)
    one = phrased("do it", name="audit", description="Bills.")
    ((_, value),) = own.bind([one]).prepare(sy.Query("do it: audit bills")).scores()
    assert value == 6.0
