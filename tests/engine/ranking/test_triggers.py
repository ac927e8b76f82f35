"""The triggers scorer: phrases, names and description words of a request."""

from __future__ import annotations

import skillyard as sy
from skillyard.engine.ranking.triggers import TRIGGERS
from skillyard.scorers import Scored
from tests.tables import for_each
from tests.worked_examples.making import skill


def phrased(*phrases: str, name: str = "zz", description: str = "Qq.") -> sy.Skill:
    return skill(name, description, triggers=sy.Triggers(phrases=phrases))


def score(query: str, *skills: sy.Skill) -> Scored:
    return TRIGGERS.bind(skills).prepare(sy.Query(query))


def points(query: str, one: sy.Skill) -> float:
    return dict(score(query, one).scores()).get(one, 0.0)


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
