"""Baselines: the results of whole runs, to which later runs are compared case by case."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural, shorten
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.layers.work import load_layer
from skillyard.evals.regression.changes import (
    CANNOT_TELL,
    NEW,
    NOT_COMPARED,
    REGRESSION,
    REMOVED,
    Measure,
    MeasureChange,
    case_key,
    changes_of_measures,
)
from skillyard.evals.settings import Regression
from skillyard.evals.storage import (
    LatestResult,
    latest_of_each,
    part_of_run,
    read_results,
    write_envelope,
)

_SAME = ("provider", "host", "model", "judge_model", "router", "orders")
"""Results that differ in one of these answer different questions. A skill's own text may differ:
that is what is compared; and so may the cases, which are compared one by one."""
_NAMED = 5
"""Cases that a sentence names."""
Envelope = Mapping[str, Any]


def save_baseline(
    results: str, baselines: str, eval_type: str | None = None
) -> tuple[LatestResult, ...]:
    """Store the latest results as baselines, and return these baselines.

    Nothing is written unless all of them can be baselines. Raises InvalidInput when there are no
    results or they cannot be a baseline (aborted, limited, filtered, from a stand-in, or by a judge
    that failed a check), and SkillIoError.
    """
    latest = tuple(latest_of_each(results, eval_type))
    for each in latest:
        is_fake = each.envelope["meta"].get("backend") == "fake"
        why = part_of_run(each.envelope["meta"]) or _distrust(each.envelope)
        if why or is_fake:
            why = why or "a stand-in server made the answers"
            raise InvalidInput(f"{each.path} cannot be a baseline: {why}")
        _measured(each.path, each.envelope, Regression())
    if not latest:
        there = ", ".join(each.eval_type for each in latest_of_each(results)) or "none"
        raise InvalidInput(f"no results of {eval_type or 'any type'} in {results} (there: {there})")
    saved = [each._replace(path=baseline_path(baselines, each.eval_type)) for each in latest]
    for each in saved:
        write_envelope(each.path, each.envelope, "baseline", hint="check --baselines-dir")
    return tuple(saved)


def baseline_path(baselines: str, eval_type: str) -> str:
    """Return where the baseline of a type lies."""
    return os.path.join(baselines, f"{eval_type}_baseline.json")


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """One evaluation type against its baseline."""

    eval_type: str
    path: str
    baseline: str
    refused: str = ""
    """Why the two cannot be compared; empty where they were."""
    changes: tuple[MeasureChange, ...] = ()
    note: str = ""
    """Sentences on newer results that are no whole run, on cases of one run only, or on what
    differs beside the skills."""
    blind: bool = False
    """Less than half of the cases of either run are in both: a gate must not pass."""

    @property
    def regressions(self) -> tuple[MeasureChange, ...]:
        """The changes for the worse that are past their threshold, and more than chance."""
        return tuple(change for change in self.changes if change.status == REGRESSION)

    @property
    def unclear(self) -> tuple[MeasureChange, ...]:
        """The measures with too few cases for any change to be told from chance."""
        return tuple(change for change in self.changes if change.status == CANNOT_TELL)

    def warnings(self) -> Iterator[str]:
        """Yield what a gate says: what was not compared, or cannot be told, and what fell."""
        if self.refused or self.note:
            yield f"not compared: {self.refused}" if self.refused else self.note
        if self.unclear:
            yield f"warning: cannot tell for {plural(len(self.unclear), 'figure')}: too few cases"
        for change in self.regressions:
            yield f"{change.entity}: {change.message}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {**asdict(self), "changes": [change.to_dict() for change in self.changes]}

    def lines(self) -> list[dict[str, Any]]:
        """Return what a report says: each change, or that there was no comparison, and why."""
        if not self.refused:
            return [change.to_dict() for change in self.changes]
        nothing = MeasureChange(self.eval_type, "_overall", "", NOT_COMPARED).to_dict()
        return [{**nothing, "message": self.refused}]


def compare_folders(
    results: str, baselines: str, regression: Regression, eval_type: str | None = None
) -> tuple[BaselineComparison, ...]:
    """Compare the latest results of each type (or of one) with its baseline.

    A type without results is left out; a type without a baseline is reported. Raises InvalidInput
    when there is nothing to compare, SkillIoError, and InvalidInput for damaged files.
    """
    if eval_type is not None and eval_type not in LAYERS:
        raise InvalidInput(f"--eval-type must be one of {', '.join(LAYERS)}")
    comparisons = []
    for each in latest_of_each(results, eval_type):
        compared = compare_with_baseline(each.path, each.envelope, baselines, regression)
        note = " ".join(filter(None, (each.note, compared.note)))
        comparisons.append(replace(compared, note=note))
    if not comparisons:
        what = eval_type or "any evaluation"
        raise InvalidInput(f"no results of {what} in {results}; run `skillyard eval` first")
    return tuple(comparisons)


def compare_with_baseline(
    path: str, envelope: Envelope, baselines: str, regression: Regression
) -> BaselineComparison:
    """Compare one result with the baseline of its type. Raises for a damaged baseline."""
    eval_type = envelope["meta"]["eval_type"]
    place = baseline_path(baselines, eval_type)
    if not os.path.lexists(place):
        why = "there is no baseline yet; `skillyard eval compare --save` keeps one"
        return BaselineComparison(eval_type, path, place, why)
    try:
        before = read_results(place)
    except InvalidInput as error:  # of an earlier release, or damaged
        raise InvalidInput(f"{error}; `skillyard eval compare --save` writes one") from None
    compared = compare_runs(place, path, (before, envelope), regression)
    refused = compared.refused or _difference(before["meta"], envelope["meta"])
    if not refused:
        return compared
    return BaselineComparison(eval_type, path, place, refused)


def compare_runs(
    before: str, after: str, envelopes: Sequence[Envelope], regression: Regression
) -> BaselineComparison:
    """Compare the results at the path ``after`` with those at ``before``.

    What else differs in the two runs is the note. Scores of a judge that failed a check are not
    compared. Raises InvalidInput for damaged cases, and where the runs are of two types.
    """
    first, second = envelopes
    eval_type = second["meta"]["eval_type"]
    if first["meta"]["eval_type"] != eval_type:
        raise InvalidInput("two results files of the same type of evaluation can be compared")
    earlier, earlier_ids = _measured(before, first, regression)
    now, ids = _measured(after, second, regression)
    if distrust := _distrust(second) or _distrust(first):
        return BaselineComparison(eval_type, after, before, distrust)
    changes = [
        MeasureChange(eval_type, name, "", status)
        for status, one, other in ((NEW, second, first), (REMOVED, first, second))
        for name in one["summary"]
        if name not in other["summary"]
    ]
    changes += changes_of_measures(eval_type, earlier, now)
    unpaired, blind = _unpaired(earlier_ids, ids)
    return BaselineComparison(
        eval_type,
        after,
        before,
        changes=tuple(sorted(changes, key=lambda change: (change.entity, change.measure))),
        note=" ".join(filter(None, (_difference(first["meta"], second["meta"]), unpaired))),
        blind=blind,
    )


def _measured(
    path: str, envelope: Envelope, regression: Regression
) -> tuple[tuple[Measure, ...], dict[str, str]]:
    """Return the measures of a run, and the ids of its cases by what identifies them elsewhere.

    Raises InvalidInput where a field that they come from is absent or of another type.
    """
    cases = envelope["cases"]
    try:
        measures = tuple(load_layer(envelope["meta"]["eval_type"]).measures(cases, regression))
        values = (value for each in measures for runs in each.cases.values() for value in runs)
        if not all(map(isfinite, values)):
            raise ValueError("a score is no finite number")
        return measures, {case_key(case): str(case["id"]) for case in cases}
    except (LookupError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"{path}: the results are damaged ({error!r}); take an undamaged copy, or make them"
            " again with `skillyard eval` (answers that are stored cost nothing)"
        ) from None


def _unpaired(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, bool]:
    """Name the cases that only one run has; and return whether they are more than half of one."""
    both = before.keys() & after.keys()
    alone = [each[key] for each in (before, after) for key in each if key not in both]
    if not alone:
        return "", False
    more = f" and {len(alone) - _NAMED:,} more" if len(alone) > _NAMED else ""
    note = f"{plural(len(alone), 'case')} of one run only: {', '.join(alone[:_NAMED])}{more}."
    return note, any(2 * len(both) < len(each) for each in (before, after))


def _distrust(envelope: Envelope) -> str:
    """Return which checks the judge failed; empty where it is trusted, or nothing is known."""
    trust = envelope["artifacts"].get("trust")
    failed = trust.get("failed") if isinstance(trust, Mapping) else None
    if not isinstance(failed, list) or not failed:
        return ""
    return f"the judge is not trusted: it failed {shorten(', '.join(map(str, failed)), 80)}"


def _difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return why two runs answer different questions; empty where they do not."""
    if why := part_of_run(after):
        return f"the results are no whole run: {why}"
    for name in _SAME:
        if before.get(name) != after.get(name):
            values = shorten(repr(before.get(name)), 80), shorten(repr(after.get(name)), 80)
            return f"`{name}` differs: {values[0]} before, {values[1]} now"
    if (before.get("backend") == "fake") != (after.get("backend") == "fake"):
        return "one of the two was made by a stand-in server"
    return ""
