"""The confidence scorer and the ``skill_evaluate`` answer of the skill evaluation document."""

from __future__ import annotations

from typing import Any

import pytest

import skillyard as sy
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import catalog, skill


def scorer(*skills: sy.Skill) -> sy.ConfidenceScorer:
    made = sy.ConfidenceScorer()
    made.set_skills(catalog(*skills))
    return made


@requirement("confidence:combination")
@for_each(
    ("pattern", "keyword", "combined"),
    [
        (0.6, 0.8, 0.3 + 0.4 + 0.06),
        (0.5, 0.5, 0.25 + 0.25 + 0.05),
        (0.52, 0.135, 0.341),
        (1.0, 1.0, 1.0),
        (0.0, 0.0, 0.0),
    ],
)
def test_two_signals_combine_by_the_documented_formula(
    pattern: float, keyword: float, combined: float
) -> None:
    assert sy.ConfidenceScorer().combine(pattern, keyword) == pytest.approx(combined)


@requirement("confidence:single-signal")
def test_a_lone_signal_is_multiplied_by_nine_tenths() -> None:
    assert sy.ConfidenceScorer().combine(0.52, 0.0) == pytest.approx(0.468)
    assert sy.ConfidenceScorer().combine(0.0, 0.5) == pytest.approx(0.45)


REACT_TESTING = skill(
    "react-testing",
    "React component testing",
    keywords=["test", "react", "jest"],
    tags=["testing"],
    triggers=sy.Triggers(files=("*.test.tsx",)),
)
CONTEXT: dict[str, Any] = {
    "files": ["src/Button.test.tsx"],
    "text": "Help me test this React component",
    "recentActivity": ["testing"],
}
OPTIONS = {
    "threshold": 0.3,
    "patternWeight": 0.5,
    "keywordWeight": 0.5,
    "limit": 10,
    "activityBoost": 1.2,
}
PATTERN_SCORE = 0.6 * 0.20 + 0.4
# test and React in the name (0.40 each), component in the description (0.15).
KEYWORD_SCORE = 0.95 / (0.95 + 0.4)
COMBINED = 0.5 * PATTERN_SCORE + 0.5 * KEYWORD_SCORE + 0.1 * min(PATTERN_SCORE, KEYWORD_SCORE)


@requirement("confidence:full-example", "confidence:records", "confidence:camel-options")
def test_the_full_evaluation_combines_both_signals_and_the_boost() -> None:
    (found,) = scorer(REACT_TESTING).evaluate(CONTEXT, OPTIONS)
    assert found.skill_name == "react-testing"
    assert found.confidence == pytest.approx(1.2 * COMBINED)
    assert found.level == "high"
    assert found.reason.startswith("File patterns: *.test.tsx | Keywords: test, ")
    record = found.to_dict()
    assert record["skillName"] == "react-testing"
    assert record["confidence"] == found.confidence
    assert {"level", "reason", "patternMatch", "keywordMatch"} <= set(record)


@requirement("confidence:full-example", "confidence:options")
def test_the_documented_options_are_the_defaults_everywhere() -> None:
    made = scorer(REACT_TESTING)
    assert made.evaluate(CONTEXT) == made.evaluate(CONTEXT, OPTIONS)
    assert made.evaluate(CONTEXT) == made.evaluate(CONTEXT, dict.fromkeys(OPTIONS))
    asked: dict[str, Any] = {
        "files": CONTEXT["files"],
        "text": CONTEXT["text"],
        "recent_activity": ["testing"],
    }
    (result,) = sy.evaluate(catalog(REACT_TESTING), **asked)["results"]
    (match,) = sy.rank(catalog(REACT_TESTING), scorer="confidence", **asked)
    for confidence in (result["confidence"], match.score):
        assert confidence == pytest.approx(1.2 * COMBINED)


def confidence(one: sy.Skill, context: dict[str, Any], **options: Any) -> float:
    found = scorer(one).evaluate(context, {"threshold": 0.0, **options})
    return found[0].confidence if found else 0.0


@requirement("confidence:levels")
@for_each(
    ("one", "context", "level"),
    [
        (skill("zzz", "About kubernetes."), {"text": "kubernetes"}, "low"),
        (skill("kubernetes"), {"text": "kubernetes"}, "medium"),
        (skill("a", triggers=sy.Triggers(files=("test-*",))), {"files": ["test-a"]}, "medium"),
        (REACT_TESTING, {k: CONTEXT[k] for k in ("files", "text")}, "medium"),
        (REACT_TESTING, CONTEXT, "high"),
    ],
)
def test_a_confidence_has_its_level(one: sy.Skill, context: dict[str, Any], level: str) -> None:
    (found,) = scorer(one).evaluate(context, {"threshold": 0.0})
    expected = "high" if found.confidence >= 0.7 else "medium" if found.confidence >= 0.4 else "low"
    assert found.level == level == expected


@requirement("confidence:activity")
def test_a_boost_never_lifts_a_confidence_above_one() -> None:
    assert confidence(REACT_TESTING, CONTEXT, activityBoost=9.0) == 1.0


@requirement("confidence:options")
def test_the_default_threshold_is_three_tenths() -> None:
    weak = skill("zzz", "About kubernetes.")  # 0.9 x 0.15 / 0.55 = 0.245
    assert sy.evaluate(catalog(weak), text="kubernetes")["results"] == []
    (found,) = sy.evaluate(catalog(weak), text="kubernetes", threshold=0.2)["results"]
    assert found["confidence"] == pytest.approx(0.9 * 0.15 / 0.55)
    assert found["level"] == "low"


@requirement("confidence:options", "confidence:ties")
def test_ten_results_are_the_default_and_equal_ones_are_ordered_by_name() -> None:
    many = catalog(*[skill(f"skill-{letter}", keywords=["deploy"]) for letter in "lkjihgfedcba"])
    named = [one["skillName"] for one in sy.evaluate(many, text="deploy", threshold=0)["results"]]
    assert named == [f"skill-{letter}" for letter in "abcdefghij"]
    three = sy.evaluate(many, text="deploy", threshold=0, limit=3)["results"]
    assert [one["skillName"] for one in three] == named[:3]


SKILLS = catalog(
    skill(
        "testing-patterns",
        "Patterns for tests.",
        keywords=["authentication"],
        triggers=sy.Triggers(files=("*.test.ts",)),
    ),
    skill("auth-patterns", "Patterns for sign-in.", keywords=["authentication"]),
    skill("cooking", "Bake bread."),
)
REQUEST: dict[str, Any] = {
    "files": ["src/auth/login.test.ts", "src/auth/login.ts"],
    "text": "Help me fix the authentication test",
    "threshold": 0.3,
    "limit": 5,
}


@requirement("confidence:tool-response", "confidence:reason")
def test_the_answer_has_the_documented_shape() -> None:
    answer = sy.evaluate(SKILLS, **REQUEST)
    assert answer == sy.evaluate(SKILLS, files=REQUEST["files"], text=REQUEST["text"])
    context = {"files": REQUEST["files"], "text": REQUEST["text"]}
    found = scorer(*SKILLS).evaluate(context)
    assert [one.skill_name for one in found] == [one["skillName"] for one in answer["results"]]
    assert set(answer) == {"results", "message"}
    for result in answer["results"]:
        assert set(result) == {"skillName", "confidence", "level", "reason"}
    reasons = {result["skillName"]: result["reason"] for result in answer["results"]}
    assert reasons == {
        "testing-patterns": "File patterns: *.test.ts | Keywords: test, authentication",
        "auth-patterns": "Keywords: authentication",
    }
    assert answer["message"].startswith("## Skill Evaluation Results (2 matched)\n")


@requirement("confidence:details")
def test_details_are_added_when_asked_for() -> None:
    plain = sy.evaluate(SKILLS, **REQUEST)["message"]
    details = sy.evaluate(SKILLS, **REQUEST, show_details=True)["message"]
    assert "Match Details" in details
    assert "Match Details" not in plain
    # A bar may be escaped wherever Markdown is written.
    told = details.split("Match Details", 1)[1].replace("\\|", "|")
    assert "File patterns: *.test.ts | Keywords: test, authentication" in told


@requirement("confidence:no-match", "confidence:empty-context")
@for_each("context", [{}, {"text": "bread oven flour"}, {"files": ["x.zig"]}])
def test_without_a_match_the_message_is_one_sentence(context: dict[str, Any]) -> None:
    answer = sy.evaluate(catalog(REACT_TESTING), **context)
    assert answer == {"results": [], "message": "No skills matched the current context."}
    assert scorer(REACT_TESTING).evaluate(context) == []


@requirement("confidence:options")
@for_each("wrong", [{"threshold": -0.1}, {"threshold": "x"}, {"limit": -1}])
def test_a_wrong_option_is_an_error_that_names_it(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        sy.evaluate(SKILLS, text="test", **wrong)
