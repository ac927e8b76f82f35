"""Every case of ``confidence_patterns.json`` and ``confidence_scoring.json``, by their own runner.

The runner lies beside the cases and drives an adapter; what it calls soft is what the document
leaves open. The readings built are the recommended ones, so soft cases have to pass as well.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from skillyard import ConfidenceScorer, PatternMatcher
from skillyard.engine.formats.agentskills import parse_skill
from skillyard.engine.ranking.confidence.tool import markdown
from tests.parity.rows import Case, rows
from tests.requirements import requirement
from tests.shared_data import CASES
from tests.tables import for_each

PATTERNS = "confidence_patterns"
SCORING = "confidence_scoring"
Register = Callable[[str, str, bool], None]


class Adapter:
    """What the runner calls, in its own words."""

    def match(self, path: str, pattern: str) -> bool:
        return PatternMatcher().match_file_pattern(path, pattern)

    def classify(self, pattern: str) -> tuple[str, float]:
        return PatternMatcher().classify(pattern)

    def combine(self, *arguments: Any) -> float:
        return ConfidenceScorer().combine(*arguments)

    def level(self, confidence: float) -> str:
        return ConfidenceScorer().level(confidence)

    def evaluate(self, skills: Any, context: Any, options: Any, details: bool) -> dict[str, Any]:
        scorer = ConfidenceScorer()
        scorer.set_skills(skills)
        found = scorer.evaluate(context, options)
        results = [evaluation.to_dict() for evaluation in found]
        return {"results": results, "message": markdown(found, details)}

    def frontmatter(self, text: str) -> dict[str, Any]:
        skill = parse_skill("some-skill/SKILL.md", text)
        triggers = {"files": skill.triggers.files, "keywords": skill.triggers.keywords}
        return {
            "name": skill.name,
            "description": skill.description,
            "keywords": skill.keywords,
            "tags": skill.tags,
            "triggers": triggers,
        }


@cache
def verdicts() -> dict[str, list[tuple[str, str]]]:
    """Run the runner once and return its (verdict, remark) pairs by case."""
    spec = importlib.util.spec_from_file_location("confidence_check", CASES / "confidence_check.py")
    assert spec is not None
    assert spec.loader is not None
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    found: dict[str, list[tuple[str, str]]] = {}
    with warnings.catch_warnings():
        # The runner leaves its two files for the garbage collector to close.
        warnings.simplefilter("ignore", ResourceWarning)
        rows_found = runner.score(Adapter(), str(CASES))
    for name, verdict, remark in rows_found:
        found.setdefault(name.split()[0], []).append((verdict, remark))
    return found


def check(case: Case) -> None:
    entries = verdicts()[case["id"]]
    assert [entry for entry in entries if entry[0] not in ("pass", "soft-pass")] == []


@requirement("confidence:globs", "confidence:glob-rules", "confidence:pattern-weights")
@for_each("case", rows(PATTERNS))
def test_every_pattern_matches_and_weighs_as_recommended(case: Case, parity: Register) -> None:
    parity(PATTERNS, case["id"], case["ambiguous"])
    check(case)
    # Beyond the runner: where several readings are allowed, the first one is the ruled one.
    assert Adapter().match(case["path"], case["pattern"]) is case["expected"]
    assert Adapter().classify(case["pattern"]) == (case["class"], case["weight"])


@requirement("confidence:glob-linear")
@for_each("case", rows(PATTERNS, "slow_cases"))
def test_every_pathological_pattern_is_answered_within_its_limit(
    case: Case, parity: Register
) -> None:
    parity(PATTERNS, case["id"], False)
    check(case)


@requirement("confidence:combination", "confidence:tool-response", "confidence:preprocessing")
@requirement("confidence:levels")
@for_each("case", rows(SCORING))
def test_every_scoring_case_holds(case: Case, parity: Register) -> None:
    parity(SCORING, case["id"], case["ambiguous"])
    check(case)


@requirement("confidence:combination")
@for_each("case", rows(SCORING))
def test_an_open_combination_is_the_documented_formula(case: Case) -> None:
    # The ruling: exactly the formula, although a guard would be allowed.
    if case["kind"] == "combine" and case["ambiguous"]:
        found = Adapter().combine(case["patternScore"], case["keywordScore"])
        assert found == pytest.approx(case["expected"])
