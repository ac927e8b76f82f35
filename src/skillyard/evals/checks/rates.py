"""Pass rates: the share of checks that pass, by condition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from statistics import fmean
from typing import Any

from skillyard.base.sums import wilson
from skillyard.evals.statistics.intervals import mean_interval
from skillyard.evals.statistics.pairs import OVERALL, PLACES, PromptId

Shares = Mapping[str, Mapping[PromptId, Mapping[int, Sequence[bool]]]]
"""Condition -> prompt -> run -> the outcomes of the checks of one answer."""


def add_pass_rates(summary: dict[str, dict[str, Any]], cases: Sequence[Mapping[str, Any]]) -> None:
    """Add ``pass_rate`` and ``pass_rate_differences`` to each skill with checks, and overall."""
    for skill, entry in summary.items():
        own = [case for case in cases if skill in (OVERALL, case.get("skill_name"))]
        shares = _outcomes(own)
        if shares:
            entry["pass_rate"] = _rates(shares)
            entry["pass_rate_differences"] = _differences(own, shares)


def _rates(outcomes: Shares) -> dict[str, dict[str, Any]]:
    """Return, by condition, the checks that ran and passed, and the pass rate with its interval.

    The rate is the mean over prompts of the share of checks that passed. The interval is Wilson's
    with the prompt as the unit, since the checks of one answer depend on each other. A prompt half
    of whose checks pass is half a success.
    """
    rates = {}
    for condition, by_unit in outcomes.items():
        shares = [_share(runs) for runs in by_unit.values()]
        low, high = wilson(min(fsum(shares), len(shares)), len(shares))
        single = [passed for runs in by_unit.values() for each in runs.values() for passed in each]
        rates[condition] = {
            "passed": sum(single),
            "total": len(single),
            "pass_rate": round(fmean(shares), PLACES),
            "low": round(low, PLACES),
            "high": round(high, PLACES),
            "prompts": len(shares),
        }
    return rates


def _differences(cases: Iterable[Mapping[str, Any]], outcomes: Shares) -> dict[str, dict[str, Any]]:
    """Return, by comparison, the difference of the pass rates over the prompts that both have.

    The interval is a t interval over prompts. Where all differences are equal there is none,
    because their spread says nothing about other prompts.
    """
    pairs = dict.fromkeys((case["condition_a"], case["condition_b"]) for case in cases)
    differences = {}
    for first, second in pairs:
        one, other = outcomes.get(first, {}), outcomes.get(second, {})
        values = [_share(one[unit]) - _share(other[unit]) for unit in one if unit in other]
        if not values:
            continue
        low, high = mean_interval(values)
        differences[f"{first}/{second}"] = {
            "mean": _rounded(fmean(values)),
            "low": _rounded(low),
            "high": _rounded(high),
            "prompts": len(values),
        }
    return differences


def _rounded(value: float | None) -> float | None:
    return round(value, PLACES) + 0.0 if value is not None else None


def _share(runs: Mapping[int, Sequence[bool]]) -> float:
    return fmean([sum(passed) / len(passed) for passed in runs.values()])


def _outcomes(
    cases: Iterable[Mapping[str, Any]],
) -> dict[str, dict[PromptId, dict[int, list[bool]]]]:
    """Return the outcomes of each answer once; several comparisons may share an answer."""
    outcomes: dict[str, dict[PromptId, dict[int, list[bool]]]] = {}
    for case in cases:
        unit = (str(case["skill_name"]), int(case["prompt_index"]))
        for condition, checks in case.get("checks", {}).items():
            passed = [each["passed"] for each in checks if each["passed"] is not None]
            if passed:
                outcomes.setdefault(condition, {}).setdefault(unit, {})[case["run_index"]] = passed
    return outcomes
