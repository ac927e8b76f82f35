"""ConfidenceScorer and evaluate, as a host calls them."""

from __future__ import annotations

from typing import Any

import pytest

from skillyard import ConfidenceScorer, rank
from skillyard.engine.ranking.confidence.tool import evaluate
from skillyard.errors import InvalidInput
from skillyard.scorers import Confidence
from tests.engine.ranking.confidence.skills import filler, patterned, skill
from tests.requirements import requirement
from tests.tables import for_each

REACT = {
    "react-testing": {
        "name": "react-testing",
        "description": "React component testing",
        "keywords": ["test", "react", "jest"],
        "tags": ["testing"],
        "triggers": {"files": ["*.test.tsx"]},
    }
}
CONTEXT = {
    "files": ["src/Button.test.tsx"],
    "text": "Help me test this React component",
    "recentActivity": ["testing"],
}


def scorer(skills: Any = REACT, settings: Confidence | None = None) -> ConfidenceScorer:
    made = ConfidenceScorer() if settings is None else ConfidenceScorer(settings)
    made.set_skills(skills)
    return made


@requirement("confidence:quick-checks")
def test_quick_checks_have_their_own_thresholds() -> None:
    made = scorer([patterned("*.test.ts", name="tests"), *filler()])
    context = {"files": ["a.test.ts"]}  # 0.52 alone: 0.468
    assert not made.has_match(context)
    assert made.has_match(context, 0.4)
    best = made.get_best_match(context)
    assert best is not None
    assert best.skill_name == "tests"
    assert made.get_best_match(context, 0.5) is None
    assert made.get_best_match({"text": "zeppelin"}) is None


@requirement("confidence:weights-option")
def test_weights_change_the_combination_but_not_a_lone_signal() -> None:
    made = scorer([skill("both", keywords=["graphql"], files=["*.ts"]), *filler()])
    both = {"files": ["a.ts"], "text": "graphql"}
    (only_pattern,) = made.evaluate(both, {"patternWeight": 1.0, "keywordWeight": 0.0})
    (plain,) = made.evaluate(both)
    assert only_pattern.confidence == pytest.approx(0.58 + 0.1 * 0.35 / 0.75)
    assert plain.confidence != only_pattern.confidence
    (lone,) = made.evaluate({"files": ["a.ts"]}, {"patternWeight": 0.0})
    assert lone.confidence == pytest.approx(0.9 * 0.58)


@requirement("confidence:options", "confidence:ties")
def test_threshold_limit_and_order() -> None:
    made = scorer([patterned("*.ts", name=f"s{number:02}") for number in reversed(range(15))])
    context = {"files": ["a.ts"]}
    names = [found.skill_name for found in made.evaluate(context)]
    assert names == [f"s{number:02}" for number in range(10)]
    assert len(made.evaluate(context, {"limit": 100})) == 15
    assert made.evaluate(context, {"limit": 0}) == []
    assert made.evaluate(context, {"threshold": 1.5}) == []
    exact = made.evaluate(context)[0].confidence
    assert made.evaluate(context, {"threshold": exact}) != []


@requirement("confidence:combination", "confidence:single-signal", "confidence:activity")
def test_combine_is_the_documented_formula() -> None:
    made = ConfidenceScorer()
    assert made.combine(0.6, 0.8) == pytest.approx(0.76)
    assert made.combine(0.7, 0) == pytest.approx(0.63)
    assert made.combine(0.6, 0.6, 0.7, 0.3) == pytest.approx(0.66)
    assert made.combine(0.5, 0.5, activity_match=True, activity_boost=1.5) == pytest.approx(0.825)
    assert made.combine(0.95, 0.95, activity_match=True) == 1.0
    guarded = ConfidenceScorer(Confidence(monotone_guard=True))
    assert guarded.combine(0.52, 0.1) == pytest.approx(0.468)


@for_each(
    ("call", "named"),
    [
        (lambda made: made.combine(-1, 0), "pattern_score"),
        (lambda made: made.combine(0, "1"), "keyword_score"),
        (lambda made: made.combine(0, 0, None), "pattern_weight"),
        (lambda made: made.level("high"), "confidence"),
        (lambda made: made.has_match({}, "x"), "threshold"),
        (lambda made: made.evaluate({"files": "a"}), "files"),
        (lambda made: made.set_skills("x"), "catalog"),
    ],
)
def test_wrong_input_is_refused_by_name(call: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        call(ConfidenceScorer())


@requirement("confidence:tool-response")
def test_the_tool_answers_four_fields_and_a_message() -> None:
    answer = evaluate(REACT, text="test this react component", files=["a.test.tsx"])
    (result,) = answer["results"]
    assert list(result) == ["skillName", "confidence", "level", "reason"]
    assert answer["message"].startswith("## Skill Evaluation Results (1 matched)\n")
    detailed = evaluate(REACT, text="react", show_details=True)
    assert len(detailed["message"]) > len(evaluate(REACT, text="react")["message"])


@requirement("confidence:empty-context", "confidence:no-match")
@for_each("context", [{}, {"text": ""}, {"files": []}, {"recent_activity": ["react-testing"]}])
def test_nothing_to_look_at_gives_the_sentence_and_no_result(context: dict[str, Any]) -> None:
    assert evaluate(REACT, **context, threshold=0) == {
        "results": [],
        "message": "No skills matched the current context.",
    }


REACT_TESTING = skill(
    "react-testing",
    "React component testing",
    keywords=["test", "react", "jest"],
    tags=["testing"],
    files=["*.test.tsx"],
)
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
    (found,) = scorer().evaluate(CONTEXT, OPTIONS)
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
    made = scorer()
    assert made.evaluate(CONTEXT) == made.evaluate(CONTEXT, OPTIONS)
    assert made.evaluate(CONTEXT) == made.evaluate(CONTEXT, dict.fromkeys(OPTIONS))
    asked: dict[str, Any] = {
        "files": CONTEXT["files"],
        "text": CONTEXT["text"],
        "recent_activity": ["testing"],
    }
    (result,) = evaluate([REACT_TESTING], **asked)["results"]
    (match,) = rank([REACT_TESTING], scorer="confidence", **asked)
    for confidence in (result["confidence"], match.score):
        assert confidence == pytest.approx(1.2 * COMBINED)
