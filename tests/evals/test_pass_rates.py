"""Pass rates by condition: each answer once, the prompt as the unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillyard.evals.checks import add_pass_rates


def case(
    prompt: int, run: int, pair: str, skill: str = "pdf", **passed: Sequence[bool | None]
) -> dict[str, Any]:
    first, second = pair.split("/")
    return {
        "skill_name": skill,
        "prompt_index": prompt,
        "run_index": run,
        "condition_a": first,
        "condition_b": second,
        "judged": False,
        "checks": {
            arm: [{"passed": each} for each in passed[arm]]
            for arm in (first, second)
            if arm in passed
        },
    }


def pass_rates(cases: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The pass rates of the skill, by condition."""
    summary: dict[str, dict[str, Any]] = {"pdf": {}}
    add_pass_rates(summary, cases)
    rates: dict[str, dict[str, Any]] = summary["pdf"].get("pass_rate", {})
    return rates


def test_an_answer_of_several_comparisons_counts_once() -> None:
    cases = [
        case(0, 0, "full/baseline", full=[True, True], baseline=[False, False]),
        case(0, 0, "full/summary", full=[True, True], summary=[True, False]),
    ]
    rates = pass_rates(cases)
    assert {arm: (each["passed"], each["total"]) for arm, each in rates.items()} == {
        "full": (2, 2),
        "baseline": (0, 2),
        "summary": (1, 2),
    }


def test_the_unit_is_the_prompt_whatever_its_runs_and_checks() -> None:
    cases = [
        case(0, 0, "a/b", a=[True] * 9 + [False]),
        case(0, 1, "a/b", a=[True] * 7 + [False] * 3),
        case(1, 0, "a/b", a=[False]),
    ]
    (rate,) = pass_rates(cases).values()
    assert rate["pass_rate"] == 0.4  # (0.8 + 0) / 2
    assert (rate["passed"], rate["total"], rate["prompts"]) == (16, 21, 2)
    # Wilson's interval for 0.8 of 2 prompts, not for 16 of 21 checks
    assert (round(rate["low"], 3), round(rate["high"], 3)) == (0.063, 0.868)


def test_the_interval_moves_with_the_rate() -> None:
    """2 of 4 prompts and 2.5 of 4 are not the same interval."""
    halves = pass_rates([case(number, 0, "a/b", a=[number < 2, number < 2]) for number in range(4)])
    more = pass_rates([case(number, 0, "a/b", a=[number < 2, number < 3]) for number in range(4)])
    assert (halves["a"]["pass_rate"], more["a"]["pass_rate"]) == (0.5, 0.625)
    assert halves["a"]["low"] < more["a"]["low"]
    assert halves["a"]["high"] < more["a"]["high"]


def test_scripts_that_did_not_run_count_neither_way() -> None:
    assert pass_rates([case(0, 0, "a/b", a=[None])]) == {}
    assert pass_rates([case(0, 0, "a/b", a=[None, True])])["a"]["total"] == 1


def test_the_summary_has_rates_and_differences_by_skill_and_overall() -> None:
    cases = [
        case(prompt, 0, "enhanced/baseline", enhanced=[True, True], baseline=[True, prompt > 2])
        for prompt in range(6)
    ]
    cases.append(case(0, 0, "enhanced/baseline", skill="other"))
    summary: dict[str, dict[str, Any]] = {"pdf": {}, "other": {}, "_overall": {}}
    add_pass_rates(summary, cases)
    assert summary["other"] == {}
    assert summary["pdf"] == summary["_overall"]
    difference = summary["pdf"]["pass_rate_differences"]["enhanced/baseline"]
    assert (difference["mean"], difference["prompts"]) == (0.25, 6)
    assert difference["low"] < 0.25 < difference["high"]
