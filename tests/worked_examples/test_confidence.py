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


@requirement("confidence:options")
def test_three_tenths_and_ten_results_are_the_defaults_of_the_scorer_too() -> None:
    weak = scorer(skill("zzz", "About kubernetes."))
    assert weak.evaluate({"text": "kubernetes"}) == []
    assert len(weak.evaluate({"text": "kubernetes"}, {"threshold": 0.24})) == 1
    triggers = sy.Triggers(files=("*.ts",))
    many = scorer(*[skill(f"skill-{letter}", triggers=triggers) for letter in "abcdefghijkl"])
    assert len(many.evaluate({"files": ["a.ts"]})) == 10
    assert len(many.evaluate({"files": ["a.ts"]}, {"limit": 12})) == 12


@requirement("confidence:camel-options")
def test_snake_case_keys_mean_the_same() -> None:
    snake = {"files": CONTEXT["files"], "text": CONTEXT["text"], "recent_activity": ["testing"]}
    options = {"pattern_weight": 0.7, "keyword_weight": 0.3, "activity_boost": 1.1}
    camel = {"patternWeight": 0.7, "keywordWeight": 0.3, "activityBoost": 1.1}
    made = scorer(REACT_TESTING)
    (one,), (other,) = made.evaluate(snake, options), made.evaluate(CONTEXT, camel)
    (plain,) = made.evaluate(CONTEXT)
    assert one.confidence == other.confidence != plain.confidence


@requirement("confidence:weights-option")
def test_the_weights_shift_the_combination() -> None:
    context = {"files": CONTEXT["files"], "text": CONTEXT["text"]}
    options = {"patternWeight": 0.8, "keywordWeight": 0.1}
    (found,) = scorer(REACT_TESTING).evaluate(context, options)
    assert found.confidence == pytest.approx(
        0.8 * PATTERN_SCORE + 0.1 * KEYWORD_SCORE + 0.1 * PATTERN_SCORE
    )


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


ACCESSIBILITY = {"files": ["src/Button.tsx"], "text": "Add accessibility"}


@requirement("confidence:activity")
@for_each(
    ("fields", "activity", "factor"),
    [
        ({"tags": ["a11y"]}, ["accessibility", "a11y"], 1.2),
        ({"tags": ["a11y"]}, ["A11Y"], 1.2),
        ({"keywords": ["screen reader"]}, ["reader"], 1.2),
        ({}, ["accessibility-checks"], 1.2),
        ({"triggers": sy.Triggers(keywords=("aria",))}, ["aria"], 1.2),
        ({"description": "Contrast."}, ["contrast"], 1.0),
        ({"tags": ["a11y"]}, ["database"], 1.0),
        ({"tags": ["a11y"]}, ["accessibility", "a11y", "checks"], 1.2),
    ],
)
def test_recent_activity_boosts_skills_that_match_it_once(
    fields: Any, activity: list[str], factor: float
) -> None:
    one = skill("accessibility-checks", **fields)
    plain = confidence(one, ACCESSIBILITY)
    boosted = confidence(one, {**ACCESSIBILITY, "recentActivity": activity})
    assert plain > 0
    assert boosted == pytest.approx(factor * plain)


@requirement("confidence:activity")
def test_a_boost_never_lifts_a_confidence_above_one() -> None:
    assert confidence(REACT_TESTING, CONTEXT, activityBoost=9.0) == 1.0


@requirement("confidence:activity-alone")
def test_recent_activity_alone_surfaces_nothing() -> None:
    assert scorer(REACT_TESTING).evaluate({"recentActivity": ["testing"]}, {"threshold": 0.0}) == []
    assert sy.evaluate(catalog(REACT_TESTING), recent_activity=["testing"])["results"] == []


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


@requirement("confidence:quick-checks")
def test_quick_checks_answer_for_the_default_and_for_another_threshold() -> None:
    made = scorer(skill("kubernetes"), skill("other", "Kubernetes."))
    context = {"text": "kubernetes"}
    best = made.get_best_match(context)
    assert best is not None
    assert best.skill_name == "kubernetes"
    assert made.has_match(context, 0.2)
    assert not made.has_match(context)  # the default is 0.5
    assert not made.has_match(context, 0.99)
    assert not made.has_match({"text": "bread"}, 0.01)
    assert made.get_best_match({"text": "bread"}) is None


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


@requirement("confidence:tool-response")
def test_the_message_is_a_table_whose_rows_keep_their_columns() -> None:
    answer = sy.evaluate(SKILLS, **REQUEST)
    rows = [line for line in answer["message"].splitlines() if line.startswith("|")]
    assert [cell.strip() for cell in rows[0].strip("|").split("|")] == [
        "Skill",
        "Confidence",
        "Level",
        "Reason",
    ]
    assert len({row.replace("\\|", "").count("|") for row in rows}) == 1
    for result, row in zip(answer["results"], rows[2:], strict=True):
        assert result["skillName"] in row
        assert f"{round(100 * result['confidence'])}%" in row
    assert "load_skill" in answer["message"].splitlines()[-1]


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
