"""One skill counts alike in every company."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import Query, Skill
from skillyard.engine.ranking.field_hits import BODY_CHARS, InvertedFields
from skillyard.engine.ranking.relevance import RELEVANCE

WORDS = (
    *("pdf", "pdfs", "research", "researcher", "researching", "run", "running", "runs", "test"),
    *("tests", "testing", "tester", "deploy", "deployed", "skis", "ski", "dying", "die", "Straße"),
    *("naïve", "Ünit", "日本語", "テスト", "ไทย", "a", "ab", "c3po", "résumé", "İstanbul", "ﬁle"),
)
TEXT = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
SKILLS = st.builds(
    Skill,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("-".join),
    TEXT,
    st.none() | TEXT,
    title=st.none() | TEXT,
    install_count=st.integers(0, 20_000),
    curated=st.booleans(),
)
QUERIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join) | st.text(
    min_size=1, max_size=20
)


def apart(skills: list[Skill]) -> list[Skill]:
    return [skill.replace(path=f"{number}/SKILL.md") for number, skill in enumerate(skills)]


@given(SKILLS, st.lists(SKILLS, max_size=4), QUERIES)
def test_a_skill_has_one_score_in_every_set_of_candidates(
    skill: Skill, others: list[Skill], query: str
) -> None:
    many = [Skill(f"filler-{number}", "Nothing.", "Nothing.") for number in range(128)]
    found = []
    for company in ([], others, [*others, *many]):
        skills = apart([skill, *company])
        scored = RELEVANCE.bind(skills).prepare(Query(query))
        score = {id(each): points for each, points in scored.scores()}[id(skills[0])]
        explained = scored.explain(skills[0])
        assert explained.value == pytest.approx(score)
        found.append((score, explained, scored.tie_break(skills[0]), scored.tier(skills[0])))
    assert all(one == other for one, other in pairwise(found))


def test_what_lies_beyond_the_first_characters_of_a_body_is_not_read() -> None:
    skill = Skill("a", "b", "x " * (BODY_CHARS // 2) + "needle")
    assert InvertedFields([skill]).hits(["needle"]).body == [0]
    assert InvertedFields([skill]).hits(["x"]).body == [1]
