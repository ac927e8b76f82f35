"""Compares the latest results of each type with their baselines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from skillyard.errors import InvalidInput
from skillyard.evals.config_values import Regression
from skillyard.evals.regression.baselines import BASELINE, read_baseline, reason_not_whole
from skillyard.evals.regression.changes import NEW, REGRESSION, REMOVED, RULES, Change
from skillyard.evals.storage.results import EVAL_TYPES, latest_of_each
from skillyard.text import shorten

__all__ = ["BaselineComparison", "compare_folders", "compare_results"]

_SAME = (
    "eval_type",
    "provider",
    "model",
    "judge_model",
    "router",
    "index",
    "dataset_sha256",
    "orders",
)
"""Results that differ in one of these answer different questions. A skill's own text may differ:
that is what is compared."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """One evaluation type against its baseline."""

    eval_type: str
    path: str
    baseline: str
    refused: str = ""
    """Why the two cannot be compared; empty where they were."""
    changes: tuple[Change, ...] = ()

    @property
    def regressions(self) -> tuple[Change, ...]:
        """The changes for the worse that are past their threshold."""
        return tuple(change for change in self.changes if change.status == REGRESSION)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {**asdict(self), "changes": [change.to_dict() for change in self.changes]}


def compare_folders(
    results: str, baselines: str, regression: Regression, eval_type: str | None = None
) -> tuple[BaselineComparison, ...]:
    """Compare the latest results of each type (or of one) with its baseline.

    A type without results is left out; a type without a baseline is reported. Raises InvalidInput
    when there is nothing to compare, SkillIoError, and InvalidInput for damaged files.
    """
    if eval_type is not None and eval_type not in EVAL_TYPES:
        raise InvalidInput(f"--eval-type must be one of {', '.join(EVAL_TYPES)}")
    comparisons = []
    for each, path, envelope in latest_of_each(results, eval_type):
        place = os.path.join(baselines, f"{each}{BASELINE}")
        if not os.path.lexists(place):
            why = "there is no baseline yet; `skillyard eval baseline save` keeps one"
            comparisons.append(BaselineComparison(each, path, place, why))
        else:
            changes = compare_results(read_baseline(place), envelope, regression)
            comparisons.append(
                BaselineComparison(each, path, place, changes)
                if isinstance(changes, str)
                else BaselineComparison(each, path, place, "", changes)
            )
    if not comparisons:
        what = eval_type or "any evaluation"
        raise InvalidInput(f"no results of {what} in {results}; run `skillyard eval` first")
    return tuple(comparisons)


def compare_results(
    baseline: Mapping[str, Any], envelope: Mapping[str, Any], regression: Regression
) -> str | tuple[Change, ...]:
    """Return every change by entity and measure, or why the two may not be compared."""
    why = _incomparable_reason(baseline["meta"], envelope["meta"])
    if why:
        return why
    eval_type = envelope["meta"]["eval_type"]
    before, after = baseline["summary"], envelope["summary"]
    changes: list[Change] = []
    for entity in sorted({*before, *after}):
        if entity not in before:
            changes.append(Change(eval_type, entity, "", NEW))
        elif entity not in after:
            changes.append(Change(eval_type, entity, "", REMOVED))
        else:
            changes += RULES[eval_type](entity, before[entity], after[entity], regression)
    return tuple(changes)


def _incomparable_reason(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    why = reason_not_whole({**after, "backend": ""})
    if why:
        return f"the results are no whole run: {why}"
    for name in _SAME:
        if before.get(name) != after.get(name):
            values = shorten(repr(before.get(name)), 80), shorten(repr(after.get(name)), 80)
            return f"`{name}` differs: {values[0]} before, {values[1]} now"
    if (before.get("backend") == "fake") != (after.get("backend") == "fake"):
        return "one of the two was made by a stand-in server"
    return ""
