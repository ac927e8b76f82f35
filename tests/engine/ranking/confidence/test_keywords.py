"""The keyword signal: sources, rarity, frequency and length, by the ruled formula."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import KeywordDetector, Skill
from skillyard.engine.ranking.confidence.keywords import KeywordIndex, read_prompt
from skillyard.engine.ranking.confidence.records import KeywordMatch
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
