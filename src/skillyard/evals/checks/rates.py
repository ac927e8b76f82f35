"""Pass rates: the share of checks that pass, by condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from statistics import fmean
from typing import Any

from skillyard.base.sums import wilson
from skillyard.evals.statistics.intervals import mean_interval
from skillyard.evals.statistics.pairs import OVERALL, PLACES, PromptId

_Runs = Mapping[PromptId, Mapping[int, Sequence[bool]]]
"""Prompt -> run -> the outcomes of the checks of one answer."""


def add_pass_rates(summary: dict[str, dict[str, Any]], cases: Sequence[Mapping[str, Any]]) -> None:
    """Add ``pass_rate`` and ``pass_rate_differences`` to each skill with checks, and overall."""
    for skill, entry in summary.items():
        own = [case for case in cases if skill in (OVERALL, case.get("skill_name"))]
        runs = _runs_by_condition(own)
        if not runs:
            continue
        shares = {
            condition: {
                unit: fmean([sum(passed) / len(passed) for passed in each.values()])
                for unit, each in of_condition.items()
            }
            for condition, of_condition in runs.items()
        }
        entry["pass_rate"] = {
            condition: _rate(runs[condition], list(shares[condition].values()))
            for condition in runs
        }
        pairs = dict.fromkeys((case["condition_a"], case["condition_b"]) for case in own)
        entry["pass_rate_differences"] = {
            f"{first}/{second}": _difference(values)
            for first, second in pairs
            for one, other in [(shares.get(first, {}), shares.get(second, {}))]
            if (values := [one[unit] - other[unit] for unit in one if unit in other])
        }


def _rate(runs: _Runs, shares: Sequence[float]) -> dict[str, Any]:
    """Return the checks that ran and passed, and the pass rate with its interval.

    The rate is the mean over prompts of the share of checks that passed. The interval is Wilson's
    with the prompt as the unit, since the checks of one answer depend on each other. A prompt half
    of whose checks pass is half a success.
    """
    low, high = wilson(min(fsum(shares), len(shares)), len(shares))
    single = [passed for by_run in runs.values() for each in by_run.values() for passed in each]
    return {
        "passed": sum(single),
        "total": len(single),
        "pass_rate": round(fmean(shares), PLACES),
        "low": round(low, PLACES),
        "high": round(high, PLACES),
        "prompts": len(shares),
    }


def _difference(values: Sequence[float]) -> dict[str, Any]:
    """Return the difference of the pass rates over the prompts that both conditions have.

    The interval is a t interval over prompts. Where all differences are equal there is none,
    because their spread says nothing about other prompts.
    """
    estimate = {
        "mean": fmean(values),
        **dict(zip(("low", "high"), mean_interval(values), strict=True)),
    }
    rounded = {
        name: None if each is None else round(each, PLACES) + 0.0 for name, each in estimate.items()
    }
    return {**rounded, "prompts": len(values)}


def _runs_by_condition(
    cases: Sequence[Mapping[str, Any]],
) -> dict[str, dict[PromptId, dict[int, list[bool]]]]:
    """Return the outcomes of each answer once; several comparisons may share an answer."""
    runs: dict[str, dict[PromptId, dict[int, list[bool]]]] = {}
    for case in cases:
        unit = (str(case["skill_name"]), int(case["prompt_index"]))
        for condition, checks in case.get("checks", {}).items():
            passed = [each["passed"] for each in checks if each["passed"] is not None]
            if passed:
                runs.setdefault(condition, {}).setdefault(unit, {})[case["run_index"]] = passed
    return runs
