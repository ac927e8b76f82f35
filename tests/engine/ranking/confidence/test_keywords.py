"""The keyword signal: sources, rarity, frequency and length, by the ruled formula."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import InvalidInput, KeywordDetector, Skill
from skillyard.engine.ranking.confidence import KeywordMatch
from skillyard.engine.ranking.confidence.keywords import KeywordIndex, read_prompt
from tests.engine.ranking.confidence.skills import WORDS, filler, skill, skills
from tests.requirements import requirement
from tests.tables import for_each


def match(text: str, *candidates: Skill) -> list[KeywordMatch]:
    return KeywordDetector().match(text, candidates)


@requirement("confidence:sources", "confidence:trigger-keywords")
@for_each(
    ("fields", "source", "weight"),
    [
        ({"name": "deploy"}, "name", 0.40),
        ({"keywords": ["deploy"]}, "keywords", 0.35),
        ({"trigger_keywords": ["deploy"]}, "keywords", 0.35),
        ({"tags": ["deploy"]}, "tags", 0.25),
        ({"description": "deploy"}, "description", 0.15),
        ({"description": "deploy", "tags": ["deploys"]}, "tags", 0.25),
        ({"name": "deploy", "keywords": ["deploy"]}, "name", 0.40),
    ],
)
def test_a_term_counts_once_from_its_best_source(
    fields: dict[str, object], source: str, weight: float
) -> None:
    (found,) = match("deploying", skill(**fields), *filler())  # type: ignore[arg-type]
    (entry,) = found.matched_keywords
    assert (entry.keyword, entry.matched_from, entry.term_frequency) == ("deploying", source, 1)
    assert entry.weight == pytest.approx(weight)
    assert found.confidence == pytest.approx(weight / (weight + 0.4))


@requirement("confidence:rarity")
def test_rarity_is_one_for_one_skill_and_falls_with_every_further_one() -> None:
    candidates = [skill(str(number), "common") for number in range(9)] + [skill("z", "rare common")]
    index = KeywordIndex(candidates)
    assert index.rarity("rare") == pytest.approx(1.0)
    assert index.rarity("common") == pytest.approx((log(11 / 11) + 1) / (log(11 / 2) + 1))
    assert KeywordIndex([skill("a", "only")]).rarity("only") == 1.0


@requirement("confidence:rarity")
def test_an_inflected_word_is_as_rare_as_its_stem() -> None:
    common = [skill(f"c{number}", keywords=["test"]) for number in range(50)]
    found = match("tests zeppelin", *common, skill("airship", keywords=["zeppelin"]))
    assert found[0].skill_name == "airship"
    assert found[0].confidence > found[1].confidence


@requirement("confidence:frequency")
def test_repetition_adds_its_logarithm() -> None:
    one = skill(keywords=["deploy"])
    (once,) = match("deploy", one, *filler())
    (often,) = match("deploy deploys deployed", one, *filler())
    evidence = 0.35 * (1 + log(3))
    assert often.confidence == pytest.approx(evidence / (evidence + 0.4))
    assert often.confidence > once.confidence
    assert [entry.keyword for entry in often.matched_keywords] == ["deploy"]
    assert often.matched_keywords[0].term_frequency == 3


def test_the_whole_form_of_a_split_word_does_not_lengthen_the_text() -> None:
    text = "deploy GraphQL bbxx ccxx ddxx ffxx ggxx hhxx"
    (found,) = match(text, skill(keywords=["deploy"]), *filler())
    assert found.confidence == pytest.approx(0.35 / 0.75)
    assert read_prompt(text).damping == 1.0


@requirement("confidence:preprocessing")
def test_a_name_with_capitals_inside_meets_its_plain_spelling() -> None:
    for text, keyword in [
        ("GraphQL", "graphql"),
        ("graphql", "GraphQL"),
        ("JavaScript", "javascript"),
    ]:
        (found,) = match(text, skill(keywords=[keyword]), *filler())
        assert found.confidence >= 0.35 / 0.75 - 1e-9


@requirement("confidence:keyword-api", "confidence:records")
def test_the_documented_example_names_its_words() -> None:
    plain = {
        "react-skill": {
            "name": "react-skill",
            "description": "React component patterns",
            "keywords": ["react", "component", "hooks"],
            "tags": ["frontend", "ui"],
        }
    }
    detector = KeywordDetector()
    detector.build_index(plain)
    (found,) = detector.match("Help me create a React component with hooks", plain)
    assert found.skill_name == "react-skill"
    assert 0 < found.confidence < 1
    assert [entry.keyword for entry in found.matched_keywords] == ["react", "component", "hooks"]
    assert found.to_dict()["matchedKeywords"][0] == {  # type: ignore[index]
        "keyword": "react",
        "matchedFrom": "name",
        "weight": 0.4,
        "termFrequency": 1,
    }


def test_words_stand_best_source_first_and_then_as_in_the_text() -> None:
    one = skill("login", "audit", keywords=["cache", "docker"])
    (found,) = match("audit docker cache login", one)
    assert [entry.keyword for entry in found.matched_keywords] == [
        "login",
        "docker",
        "cache",
        "audit",
    ]


def test_equal_matches_stand_by_name() -> None:
    found = match(
        "deploy", *(skill(name, keywords=["deploy"]) for name in ("zeta", "alpha", "mid"))
    )
    assert [entry.skill_name for entry in found] == ["alpha", "mid", "zeta"]


def test_the_index_decides_how_rare_a_word_is_for_other_candidates() -> None:
    one = skill("one", keywords=["deploy"])
    detector = KeywordDetector()
    detector.build_index([skill(str(number), "deploy") for number in range(9)])
    (found,) = detector.match("deploy", [one])
    (alone,) = KeywordDetector().match("deploy", [one])
    assert found.confidence < alone.confidence
    (unseen,) = detector.match("zeppelin", [skill("z", keywords=["zeppelin"])])
    assert unseen.confidence == pytest.approx(0.35 / 0.75)


def test_without_candidates_those_of_the_index_are_meant() -> None:
    detector = KeywordDetector()
    with pytest.raises(InvalidInput, match="build_index"):
        detector.match("deploy")
    detector.build_index([skill("one", keywords=["deploy"])])
    assert [entry.skill_name for entry in detector.match("deploy")] == ["one"]


def test_short_words_count_where_they_are_named() -> None:
    one = skill(keywords=["UI", "Go"])
    assert match("ui go", one) == []
    (found,) = KeywordDetector(short_terms=["UI"]).match("ui go", [one])
    assert [entry.keyword for entry in found.matched_keywords] == ["ui"]


def test_a_text_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidInput, match="text"):
        KeywordDetector().match(None, [])  # type: ignore[arg-type]


MORE: dict[str, Callable[[Skill, str], Skill]] = {
    "keywords": lambda one, word: one.replace(keywords=(*one.keywords, word)),
    "tags": lambda one, word: one.replace(tags=(*one.tags, word)),
    "description": lambda one, word: one.replace(description=f"{one.description} {word}"),
}


@given(
    skills(),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12),
    st.sampled_from(sorted(MORE)),
    st.data(),
)
@requirement("confidence:sources")
def test_more_matching_metadata_never_lowers_the_score(
    candidates: list[Skill], words: list[str], field: str, data: st.DataObject
) -> None:
    index = KeywordIndex(candidates)
    prompt = read_prompt(" ".join(words))
    richer = MORE[field](candidates[0], data.draw(st.sampled_from(words)))
    before = index.evidence(prompt)[0]
    assert KeywordIndex([richer], statistics=index).evidence(prompt)[0] >= before - 1e-12


@given(skills(), st.lists(st.sampled_from(WORDS), max_size=12))
def test_the_postings_give_what_one_skill_alone_gives(
    candidates: list[Skill], words: list[str]
) -> None:
    index = KeywordIndex(candidates)
    prompt = read_prompt(" ".join(words))
    for number, evidence in enumerate(index.evidence(prompt)):
        added = 0.0
        for hit in index.hits(number, prompt):
            added += hit.added
        assert added == evidence


@given(skills(), st.lists(st.sampled_from(WORDS), max_size=12))
def test_every_confidence_lies_between_zero_and_one(
    candidates: list[Skill], words: list[str]
) -> None:
    assert all(0 < found.confidence < 1 for found in match(" ".join(words), *candidates))


@requirement("confidence:no-prefix")
@for_each(
    ("text", "keyword"),
    [
        ("javascript", "java"),
        ("java", "javascript"),
        ("category", "cat"),
        ("network", "net"),
        ("article", "art"),
        ("github", "git"),
        ("address", "add"),
    ],
)
def test_the_beginning_of_a_word_is_not_the_word(text: str, keyword: str) -> None:
    assert match(text, skill("subject", keywords=[keyword])) == []
