"""The keyword detector of the skill evaluation document."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

import skillyard as sy
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import catalog, skill


def found(text: str, *skills: sy.Skill) -> dict[str, Any]:
    """Return the keyword matches by skill name."""
    known = catalog(*skills)
    detector = sy.KeywordDetector()
    detector.build_index(known)
    return {match.skill_name: match for match in detector.match(text, known)}


def confidence(text: str, *others: sy.Skill, **fields: Any) -> float:
    """Return the keyword score of one skill beside others; 0 when it does not match."""
    match = found(text, skill("subject", **fields), *others).get("subject")
    return match.confidence if match else 0.0


def saturated(total: float) -> float:
    """Return the ruled score of a sum of term weights."""
    return total / (total + 0.4)


@requirement("confidence:frequency")
@for_each(("others", "damping"), [(7, 1.0), (8, 1 + 0.5 * log(9 / 8)), (15, 1 + 0.5 * log(2))])
def test_beyond_eight_distinct_words_a_long_text_counts_a_little_less(
    others: int, damping: float
) -> None:
    text = " ".join(["kubernetes", *[f"zq{chr(97 + number)}x" for number in range(others)]])
    assert confidence(text, keywords=["kubernetes"]) == pytest.approx(saturated(0.35 / damping))


@requirement("confidence:preprocessing")
@for_each(
    ("text", "keyword"),
    [
        ("HOOKS", "hooks"),
        ("hooks!", "Hooks"),
        ("(hooks), please", "hooks"),
        ("react-hooks", "hooks"),
        ("getUserProfile", "profile"),
        ("XMLParser", "parser"),
        ("user_profile", "profile"),
        ("profile", "user-profile"),
        ("runs", "running"),
        ("testing it", "test"),
        ("queries", "query"),
        ("coding", "code"),
        ("café", "café"),
        ("развёртывание", "развёртывание"),
    ],
)
def test_text_is_normalised_and_split_before_words_are_compared(text: str, keyword: str) -> None:
    assert confidence(text, keywords=[keyword]) > 0


@requirement("confidence:preprocessing")
@for_each(
    ("text", "keyword"),
    [("with the and", "the"), ("help me please", "help"), ("ui go", "ui"), ("2048", "2048")],
)
def test_stop_words_short_tokens_and_bare_numbers_are_dropped(text: str, keyword: str) -> None:
    assert confidence(text, keywords=[keyword]) == 0


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
    assert confidence(text, keywords=[keyword]) == 0


@requirement("confidence:keyword-api")
def test_the_documented_call_has_the_ruled_confidence() -> None:
    fields = {"keywords": ["react", "component", "hooks"], "tags": ["frontend", "ui"]}
    score = confidence("Help me create a React component with hooks", **fields)
    assert score == pytest.approx(saturated(3 * 0.35))
