"""Compares the latest results of each type with their baselines."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.text import shorten
from skillyard.evals.config_values import Regression
from skillyard.evals.layers.protocol import load_layer
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.regression.baselines import BASELINE, read_baseline
from skillyard.evals.regression.changes import (
    CANNOT_TELL,
    NEW,
    NOT_COMPARED,
    REGRESSION,
    REMOVED,
    Change,
    changes_of_measures,
)
from skillyard.evals.regression.measures import Measure, measures_from
from skillyard.evals.storage.case_shapes import check_cases
from skillyard.evals.storage.results import latest_of_each, part_of_run

_SAME = (
    "eval_type",
    "provider",
    "host",
    "model",
    "judge_model",
    "router",
    "index",
    "dataset_sha256",
    "orders",
)
"""Results that differ in one of these answer different questions. A skill's own text may differ:
that is what is compared."""
_RECORDED_LATER = ("host",)
"""Fields that older baselines do not have; without a value they are not compared."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """One evaluation type against its baseline."""

    eval_type: str
    path: str
    baseline: str
    refused: str = ""
    """Why the two cannot be compared; empty where they were."""
    changes: tuple[Change, ...] = ()
    note: str = ""
    """A sentence on newer results that are no whole run, or on what differs beside the skills."""

    @property
    def regressions(self) -> tuple[Change, ...]:
        """The changes for the worse that are past their threshold, and more than chance."""
        return tuple(change for change in self.changes if change.status == REGRESSION)

    @property
    def unclear(self) -> tuple[Change, ...]:
        """The measures with too few cases for any change to be told from chance."""
        return tuple(change for change in self.changes if change.status == CANNOT_TELL)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {**asdict(self), "changes": [change.to_dict() for change in self.changes]}

    def lines(self) -> list[dict[str, Any]]:
        """Return what a report says: each change, or that there was no comparison, and why."""
        if not self.refused:
            return [change.to_dict() for change in self.changes]
        return [
            {
                **Change(self.eval_type, "_overall", "", NOT_COMPARED).to_dict(),
                "message": self.refused,
            }
        ]


def compare_folders(
    results: str, baselines: str, regression: Regression, eval_type: str | None = None
) -> tuple[BaselineComparison, ...]:
    """Compare the latest results of each type (or of one) with its baseline.

    A type without results is left out; a type without a baseline is reported. Raises InvalidInput
    when there is nothing to compare, SkillIoError, and InvalidInput for damaged files.
    """
    if eval_type is not None and eval_type not in LAYERS:
        raise InvalidInput(f"--eval-type must be one of {', '.join(LAYERS)}")
    comparisons = tuple(
        replace(
            compare_with_baseline(each.path, each.envelope, baselines, regression), note=each.note
        )
        for each in latest_of_each(results, eval_type)
    )
    if not comparisons:
        what = eval_type or "any evaluation"
        raise InvalidInput(f"no results of {what} in {results}; run `skillyard eval` first")
    return comparisons


def compare_with_baseline(
    path: str, envelope: Mapping[str, Any], baselines: str, regression: Regression
) -> BaselineComparison:
    """Compare one result with the baseline of its type. Raises for a damaged baseline."""
    eval_type = envelope["meta"]["eval_type"]
    place = os.path.join(baselines, f"{eval_type}{BASELINE}")
    if not os.path.lexists(place):
        why = "there is no baseline yet; `skillyard eval compare --save` keeps one"
        return BaselineComparison(eval_type, path, place, why)
    check_cases(path, envelope)
    changes = compare_results(read_baseline(place), envelope, regression)
    if isinstance(changes, str):
        return BaselineComparison(eval_type, path, place, changes)
    return BaselineComparison(eval_type, path, place, "", changes)


def compare_runs(
    before: str, after: str, envelopes: Sequence[Mapping[str, Any]], regression: Regression
) -> BaselineComparison:
    """Compare the results at the path ``after`` with those at ``before``, as with a baseline.

    What else differs in the two runs is the note. Raises InvalidInput for damaged cases, and where
    the runs are of two types.
    """
    first, second = envelopes
    eval_type = second["meta"]["eval_type"]
    if first["meta"]["eval_type"] != eval_type:
        raise InvalidInput("two results files of the same type of evaluation can be compared")
    check_cases(before, first)
    check_cases(after, second)
    layer = load_layer(eval_type)
    earlier, now = (tuple(layer.measures(each["cases"], regression)) for each in envelopes)
    changes = changes_of_measures(eval_type, earlier, now)
    note = _incomparable_reason(first["meta"], second["meta"])
    return BaselineComparison(eval_type, after, before, "", changes, note)


def compare_results(
    baseline: Mapping[str, Any], envelope: Mapping[str, Any], regression: Regression
) -> str | tuple[Change, ...]:
    """Return every change by entity and measure, or why the two may not be compared."""
    why = _incomparable_reason(baseline["meta"], envelope["meta"])
    if why:
        return why
    if "measures" not in baseline:
        return (
            "the baseline has no cases, so a change could not be told from chance; save it again"
            " from its results with `skillyard eval compare --save`"
        )
    eval_type = envelope["meta"]["eval_type"]
    layer = load_layer(eval_type)
    before, after = baseline["summary"], envelope["summary"]
    earlier = measures_from(baseline["measures"])
    now = tuple(layer.measures(envelope["cases"], regression))
    why = _missing_measure(earlier, now, before)
    if why:
        return why
    changes = [Change(eval_type, entity, "", NEW) for entity in after if entity not in before]
    changes += [Change(eval_type, entity, "", REMOVED) for entity in before if entity not in after]
    changes += changes_of_measures(eval_type, earlier, now)
    return tuple(sorted(changes, key=lambda change: (change.entity, change.measure)))


def _missing_measure(
    before: Sequence[Measure], now: Sequence[Measure], summary: Mapping[str, Any]
) -> str:
    """Return which measure of the gate a baseline lacks; empty where it has all.

    Entities that are new have none, and measures that are only shown come and go with the files
    beside a skill.
    """
    known = {(each.entity, each.measure) for each in before}
    for each in now:
        if each.gate and each.entity in summary and (each.entity, each.measure) not in known:
            return (
                f"the baseline has no measure {each.measure} of {each.entity}, though it has that"
                " entity, so nothing can be said of it; save it again from its results with"
                " `skillyard eval compare --save`"
            )
    return ""


def _incomparable_reason(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    why = part_of_run(after)
    if why:
        return f"the results are no whole run: {why}"
    for name in _SAME:
        if name in _RECORDED_LATER and before.get(name) is None:
            continue
        if before.get(name) != after.get(name):
            values = shorten(repr(before.get(name)), 80), shorten(repr(after.get(name)), 80)
            return f"`{name}` differs: {values[0]} before, {values[1]} now"
    if (before.get("backend") == "fake") != (after.get("backend") == "fake"):
        return "one of the two was made by a stand-in server"
    return ""
