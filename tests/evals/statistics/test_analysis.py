"""Cases → summary and artifacts: shape, what is left out, laws, and what is recommended."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from importlib.util import find_spec
from typing import Any

import pytest

from skillyard.evals.statistics.verdicts import OVERALL, analyse_pairs
from tests.evals.statistics.planting import Judge, case, run_of
from tests.tables import for_each

pytestmark = pytest.mark.skipif(find_spec("numpy") is None, reason="numpy is not installed")

ARMS = (
    ("full", "baseline"),
    ("full", "summary"),
    ("summary", "baseline"),
    ("full_siblings", "full"),
)
JUDGE = Judge({"full": 1.0, "full_siblings": 1.0, "summary": 0.9}, by_prompt=0.2, by_call=0.3)
COMPARISON_KEYS = {
    "wins", "losses", "ties", "win_rate", "mean", "stddev", "n", "units", "ci_low", "ci_high",
    "ci_level", "margin", "word", "second_is_enough", "study_units",
}  # fmt: skip


def size_impact(**changes: Any) -> list[dict[str, Any]]:
    return run_of(JUDGE, 3, **{"skills": 3, "prompts": 8, "comparisons": ARMS, **changes})


def test_the_shape_of_the_contract() -> None:
    summary, artifacts = analyse_pairs(size_impact())
    assert list(summary) == ["skill-00", "skill-01", "skill-02", OVERALL]
    for entry in summary.values():
        assert list(entry["comparisons"]) == ["/".join(arms) for arms in (*ARMS[:3], ARMS[3])]
        for comparison in entry["comparisons"].values():
            assert set(comparison) == COMPARISON_KEYS
        head = entry["comparisons"]["full/baseline"]
        assert (entry["mean"], entry["stddev"], entry["n"]) == (
            head["mean"], head["stddev"], head["n"],
        )  # fmt: skip
    assert summary["skill-00"]["comparisons"]["full/baseline"]["units"] == 8, "prompts"
    assert summary[OVERALL]["comparisons"]["full/baseline"]["units"] == 3, "skills"
    assert list(artifacts) == ["trust"]
    written = json.dumps([summary, artifacts], allow_nan=False)
    assert json.loads(written) == [summary, artifacts]


def test_the_order_of_the_cases_changes_no_byte() -> None:
    cases = size_impact(runs=2)
    expected = json.dumps(analyse_pairs(cases))
    random.Random(1).shuffle(cases)
    assert json.dumps(analyse_pairs(cases)) == expected


def exchanged(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    turned = deepcopy(cases)
    for one in turned:
        one["condition_a"], one["condition_b"] = one["condition_b"], one["condition_a"]
        one["comparison"] = f"{one['condition_a']}/{one['condition_b']}"
        one["improvement"] = -one["improvement"]
    return turned


@for_each("prompts", [1, 3, 7, 14, 20])
def test_exchanging_the_arms_turns_everything_round(prompts: int) -> None:
    judge = Judge({"full": 0.3})
    cases = run_of(judge, prompts, skills=2, prompts=prompts, runs=2)
    one = analyse_pairs(cases)[0]
    other = analyse_pairs(exchanged(cases))[0]
    opposite = {"better": "worse", "worse": "better"}
    for name in one:
        ours = one[name]["comparisons"]["full/baseline"]
        theirs = other[name]["comparisons"]["baseline/full"]
        for key in ("stddev", "n", "ties", "units"):
            assert theirs[key] == ours[key]
        assert theirs["mean"] == -ours["mean"]
        if ours["ci_low"] is None:
            assert theirs["ci_low"] is theirs["ci_high"] is None
        else:
            assert (theirs["ci_low"], theirs["ci_high"]) == (-ours["ci_high"], -ours["ci_low"])
        assert (theirs["wins"], theirs["losses"]) == (ours["losses"], ours["wins"])
        assert theirs["win_rate"] == pytest.approx(1 - ours["win_rate"], abs=2e-6)
        assert theirs["word"] == opposite.get(ours["word"], ours["word"])


def test_failed_and_skipped_cases_are_counted_and_left_out() -> None:
    cases = run_of(JUDGE, 1, prompts=8)
    expected = analyse_pairs(cases)[0]["skill-00"]
    failed = deepcopy(cases[0]) | {
        "id": "f",
        "prompt_index": 20,
        "scores": None,
        "improvement": None,
    }
    failed |= {"errors": [{"kind": "judge_error", "message": "no JSON"}], "winner": None}
    failed["orders"][1] |= {"error": "no JSON", "attempts": 3, "winner": None, "scores": None}
    skipped = {"id": "s", "skill_name": "skill-00", "skipped": "budget", "errors": []}
    summary, _artifacts = analyse_pairs([*cases, failed, skipped])
    result = summary["skill-00"]
    assert (result["errors"], result["skipped"]) == (1, 1)
    assert (expected["errors"], expected["skipped"]) == (0, 0)
    assert result["comparisons"] == expected["comparisons"]


def test_a_run_without_a_judged_case_still_has_a_summary() -> None:
    cases = [{"id": "s", "skill_name": "x", "skipped": "budget", "errors": []}]
    summary, _ = analyse_pairs(cases)
    assert (summary["x"]["mean"], summary["x"]["n"], summary["x"]["skipped"]) == (None, 0, 1)
    assert summary["x"]["comparisons"] == {}
    assert analyse_pairs([])[0][OVERALL]["n"] == 0


def exact(
    differences: list[float], arms: tuple[str, str] = ("full", "baseline"), **changes: Any
) -> list[dict[str, Any]]:
    """Return one case a prompt with these improvements, the same in both orders."""
    prompts_of_skill = []
    for prompt, value in enumerate(differences):
        orders = [(arm, 3 + value, 3.0) for arm in arms]
        prompts_of_skill.append(case("s", prompt, 0, arms, orders) | changes)
    return prompts_of_skill


CLEAR = [1.0, 0.8, 1.2, 0.9, 1.1, 1.0, 0.7, 1.3]
NOTHING = [1.0, -0.8, 0.4, -0.9, 1.1, -1.0, 0.2, -0.3]


SAME = [0.1, -0.1, 0.2, 0.0, -0.2, 0.1, -0.1, 0.0] * 8
"""Equivalence takes many prompts: eight would often miss what one prompt in ten gains."""


@for_each(
    ("baseline", "summary", "level"),
    [
        (CLEAR, CLEAR, "full"),
        (CLEAR, SAME, "summary"),
        (SAME, CLEAR, "baseline"),
        ([-value for value in CLEAR], NOTHING, "baseline"),
        (CLEAR, NOTHING, None),
        (NOTHING, CLEAR, None),
        (NOTHING, SAME, None),
        (CLEAR, CLEAR[:3], None),
        (CLEAR[:5], SAME, "summary"),
        (SAME[:6], SAME[:6], None),
    ],
)
def test_the_recommended_level_is_the_smallest_that_is_shown_to_be_enough(
    baseline: list[float], summary: list[float], level: str | None
) -> None:
    """The lack of a difference is no evidence that a smaller level is enough."""
    cases = exact(baseline) + exact(summary, ("full", "summary"))
    entry = analyse_pairs(cases)[0]["s"]
    assert entry["recommended_level"] == level


def test_skills_that_a_stopped_run_did_not_reach_count_in_the_correction() -> None:
    cases = exact(CLEAR)
    alone = analyse_pairs(cases)[0]["s"]["comparisons"]["full/baseline"]
    left_out = {"skill_name": "t", "id": "t", "comparison": "full/baseline", "skipped": "budget"}
    stopped = analyse_pairs([*cases, left_out])[0]["s"]["comparisons"]["full/baseline"]
    assert (alone["ci_level"], stopped["ci_level"]) == (0.95, 0.975)


def test_all_skills_together_are_judged_by_skills_and_not_by_prompts() -> None:
    """Three skills that differ from each other say nothing about a fourth, however many prompts."""
    cases = []
    for skill, effect in enumerate((1.0, 1.2, 0.8)):
        values = [effect + value / 10 for value in NOTHING]
        cases += [one | {"skill_name": f"s{skill}", "id": f"{skill}-{one['id']}"}
                  for one in exact(values)]  # fmt: skip
    overall = analyse_pairs(cases)[0][OVERALL]
    assert overall["word"] == "not enough data"
    assert overall["comparisons"]["full/baseline"]["ci_low"] < 0


def test_one_prompt_never_earns_a_word_about_the_skill() -> None:
    arms = ("full", "baseline")
    cases = [
        case("s", 0, run, arms, [(arm, 4 + run % 2 / 4, 3.0) for arm in arms]) for run in range(12)
    ]
    comparison = analyse_pairs(cases)[0]["s"]["comparisons"]["full/baseline"]
    assert (comparison["word"], comparison["ci_low"]) == ("not enough data", None)


def test_a_skill_is_corrected_for_the_others_of_the_same_comparison() -> None:
    cases = []
    for number, values in enumerate((CLEAR, NOTHING, NOTHING, NOTHING)):
        named = {"skill_name": f"s{number}"}
        cases += [one | named | {"id": f"{number}-{one['id']}"} for one in exact(values)]
    summary = analyse_pairs(cases)[0]
    first = summary["s0"]["comparisons"]["full/baseline"]
    assert first["ci_level"] == 1 - 0.05 / 4
    second = summary["s1"]["comparisons"]["full/baseline"]
    assert second["ci_level"] == pytest.approx(1 - 0.05 / 4 * 7 / 6), "what the first passed on"
    overall = summary[OVERALL]["comparisons"]["full/baseline"]
    assert overall["ci_level"] == 0.95, "one comparison is a family of one"


def test_two_arms_have_an_own_headline() -> None:
    judge = Judge({"enhanced": 1.0})
    cases = run_of(judge, 2, prompts=10, comparisons=[("enhanced", "baseline")])
    summary, _ = analyse_pairs(cases)
    assert summary["skill-00"]["recommended_level"] == "enhanced"


def test_cases_without_orders_and_lengths_are_still_analysed() -> None:
    cases = exact(CLEAR, orders=[], lengths=None, judge_agrees=None)
    summary, artifacts = analyse_pairs(cases)
    assert summary["s"]["comparisons"]["full/baseline"]["word"] == "better"
    assert artifacts["trust"]["trusted"] is None
    assert summary["s"]["recommended_level"] == "full"
