"""Evaluation results: comparison with a baseline, saving as a baseline, and reports.

A baseline is the results of a whole run, to which later runs are compared case by case.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from skillyard.base.errors import InvalidInput
from skillyard.base.io.files import write_output
from skillyard.base.text import name_few, plural, shorten
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.layers.work import load_layer
from skillyard.evals.operations.eval_runs import eval_config
from skillyard.evals.settings import Regression
from skillyard.evals.statistics.changes import (
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
from skillyard.evals.storage import (
    Entries,
    LatestResult,
    latest_of_each,
    part_of_run,
    read_results,
    write_envelope,
    write_file,
)

if TYPE_CHECKING:
    from skillyard.evals.report.report import Report
    from skillyard.evals.report.values import Results

REPORTS = {"html": ".html", "md": ".md", "junit": ".junit.xml"}
"""Formats of a report, and how their files end."""
_SAME = ("provider", "host", "model", "judge_model", "router", "orders")
"""Results that differ in one of these answer different questions. A skill's own text may differ:
that is what is compared; and so may the cases, which are compared one by one."""
Envelope = Mapping[str, Any]


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

    def warnings(self) -> Iterator[str]:
        """Yield what a gate says: what was not compared, or cannot be told, and what fell."""
        if self.refused or self.note:
            yield f"not compared: {self.refused}" if self.refused else self.note
        if unclear := sum(change.status == CANNOT_TELL for change in self.changes):
            yield f"warning: cannot tell for {plural(unclear, 'figure')}: too few cases"
        for change in self.regressions:
            yield f"{change.entity}: {change.message}"

    def lines(self) -> list[dict[str, Any]]:
        """Return what a report says: each change, or that there was no comparison, and why."""
        nothing = MeasureChange(self.eval_type, "_overall", "", NOT_COMPARED, message=self.refused)
        return [asdict(each) for each in ((nothing,) if self.refused else self.changes)]


class EvalComparison(NamedTuple):
    """The latest results of each type against their baselines."""

    compared: tuple[BaselineComparison, ...]

    @property
    def regressed(self) -> bool:
        """True when a measure dropped by more than its threshold."""
        return any(each.regressions for each in self.compared)

    def require_pairs(self) -> None:
        """Raise InvalidInput where less than half of the cases, or nothing, could be compared."""
        for each in self.compared:
            why = f"not compared, so the gate would pass whatever happened: {each.refused}"
            if each.blind:
                why = (
                    "less than half of the cases are in the baseline too, so the gate would pass"
                    " whatever happened; `skillyard eval compare --save` keeps a new baseline."
                    f" {each.note}"
                )
            if each.refused or each.blind:
                raise InvalidInput(f"{each.eval_type}: {why}")

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-compare/1``."""
        return {
            "schema": "skillyard.eval-compare/1",
            "regressed": self.regressed,
            "compared": list(map(asdict, self.compared)),
        }


def eval_compare(
    evals_dir: str,
    *,
    results: str | None = None,
    baselines: str | None = None,
    eval_type: str | None = None,
    path: str | None = None,
    runs: Sequence[str] = (),
) -> EvalComparison:
    """Compare the latest results of each type, or those in the file ``path``, with their baselines.

    A type without results is left out; a type without a baseline is named. ``runs`` are two results
    files, of which the second is compared with the first instead. Raises InvalidInput, also for
    damaged files and where there is nothing to compare, and SkillIoError.
    """
    config = eval_config(evals_dir)
    rules = config.regression
    if runs:
        if len(runs) != 2:
            raise InvalidInput("name two results files, the earlier one first, or none")
        before, after = ((each, read_results(each)) for each in runs)
        return EvalComparison((_compare_runs(before, after, rules),))
    where = results or config.paths.results
    latest = [_stored(path)] if path is not None else _latest(where, eval_type)
    folder = baselines or config.paths.baselines
    return EvalComparison(tuple(_compare_with_baseline(each, folder, rules) for each in latest))


def _latest(where: str, eval_type: str | None = None) -> list[LatestResult]:
    """Return the latest results of each type. Raises InvalidInput where there are none."""
    latest = list(latest_of_each(where, eval_type))
    if not latest:
        of = f" of {eval_type}" if eval_type else ""
        command = f"skillyard eval run {LAYERS[eval_type or next(iter(LAYERS))].command}"
        raise InvalidInput(
            f"no results{of} in {where}; type `{command}`, and before it"
            " `skillyard eval init NAME` where a skill has no cases yet"
        )
    return latest


def _stored(path: str) -> LatestResult:
    envelope = read_results(path)
    return LatestResult(envelope["meta"]["eval_type"], path, envelope)


def _baseline_path(baselines: str, eval_type: str) -> str:
    return os.path.join(baselines, f"{eval_type}_baseline.json")


def _compare_with_baseline(
    result: LatestResult, baselines: str, rules: Regression
) -> BaselineComparison:
    """Compare a result with the baseline of its type. Raises InvalidInput for a damaged one."""
    place = _baseline_path(baselines, result.eval_type)
    nothing = BaselineComparison(result.eval_type, result.path, place, note=result.note)
    if not os.path.lexists(place):
        why = "there is no baseline yet; `skillyard eval compare --save` keeps one"
        return replace(nothing, refused=why)
    try:
        before = read_results(place)
    except InvalidInput as error:  # of an earlier release, or damaged
        raise InvalidInput(f"{error}; `skillyard eval compare --save` writes one") from None
    compared = _compare_runs((place, before), (result.path, result.envelope), rules)
    refused = compared.refused or _difference(before["meta"], result.envelope["meta"])
    if refused:
        return replace(nothing, refused=refused)
    return replace(compared, note=" ".join(filter(None, (result.note, compared.note))))


def _compare_runs(
    before: tuple[str, Envelope], after: tuple[str, Envelope], rules: Regression
) -> BaselineComparison:
    """Compare two results, each with its path.

    What else differs in the two runs is the note. Scores of a judge that failed a check are not
    compared. Raises InvalidInput for damaged cases, and where the runs are of two types.
    """
    (_, first), (_, second) = before, after
    eval_type = second["meta"]["eval_type"]
    if first["meta"]["eval_type"] != eval_type:
        raise InvalidInput("two results files of the same type of evaluation can be compared")
    (earlier, earlier_ids), (now, ids) = _measured(*before, rules), _measured(*after, rules)
    nothing = BaselineComparison(eval_type, after[0], before[0])
    if distrust := _distrust(second) or _distrust(first):
        return replace(nothing, refused=distrust)
    gone = "in the baseline, and not in the results any more"
    changes = [
        MeasureChange(eval_type, name, "", status, message=message)
        for status, message, one, other in (
            (NEW, "not in the baseline", second, first),
            (REMOVED, gone, first, second),
        )
        for name in one["summary"]
        if name not in other["summary"]
    ]
    changes += changes_of_measures(eval_type, earlier, now)
    unpaired, blind = _unpaired(earlier_ids, ids)
    return replace(
        nothing,
        changes=tuple(sorted(changes, key=lambda change: (change.entity, change.measure))),
        note=" ".join(filter(None, (_difference(first["meta"], second["meta"]), unpaired))),
        blind=blind,
    )


def _measured(
    path: str, envelope: Envelope, rules: Regression
) -> tuple[tuple[Measure, ...], dict[str, str]]:
    """Return the measures of a run, and the ids of its cases by what identifies them elsewhere.

    Raises InvalidInput where a field that they come from is absent or of another type.
    """
    cases = envelope["cases"]
    try:
        measures = tuple(load_layer(envelope["meta"]["eval_type"]).measures(cases, rules))
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
    note = f"{plural(len(alone), 'case')} of one run only: {name_few(alone)}."
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


class EvalBaselines(NamedTuple):
    """The baselines that were saved in a folder."""

    folder: str
    baselines: tuple[str, ...]
    """Their files."""
    notes: tuple[str, ...] = ()
    """Sentences on newer results that were passed over."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-baselines/1``."""
        return {"schema": "skillyard.eval-baselines/1", **self._asdict()}


def save_baselines(
    evals_dir: str,
    *,
    results: str | None = None,
    baselines: str | None = None,
    eval_type: str | None = None,
) -> EvalBaselines:
    """Store the latest results as baselines.

    Nothing is written unless all of them can be baselines. Raises InvalidInput when there are no
    results or they cannot be a baseline (aborted, limited, filtered, from a stand-in, or by a judge
    that failed a check), and SkillIoError.
    """
    config = eval_config(evals_dir)
    where, folder = results or config.paths.results, baselines or config.paths.baselines
    latest = _latest(where, eval_type)
    for each in latest:
        meta = each.envelope["meta"]
        is_fake = "a stand-in server made the answers" if meta.get("backend") == "fake" else ""
        if why := part_of_run(meta) or _distrust(each.envelope) or is_fake:
            raise InvalidInput(f"{each.path} cannot be a baseline: {why}")
        _measured(each.path, each.envelope, config.regression)
    paths = tuple(_baseline_path(folder, each.eval_type) for each in latest)
    for path, each in zip(paths, latest, strict=True):
        write_envelope(path, each.envelope, "baseline")
    return EvalBaselines(folder, paths, tuple(each.note for each in latest if each.note))


class ReportSource(NamedTuple):
    """A report, and the results that it is made from."""

    report: Report
    folders: Mapping[int, str]
    """The folder of the stored answers of each envelope, by its ``id``."""
    out: str
    """Where the report is written unless somebody says otherwise, without the ending."""
    notes: tuple[str, ...] = ()
    """Sentences on newer results that are not in the report."""


def read_report(
    evals_dir: str,
    paths: Sequence[str],
    *,
    results: str | None = None,
    baselines: str | None = None,
    compared: Sequence[BaselineComparison] | None = None,
) -> ReportSource:
    """Return the report on results files, by default on the latest real results of each type.

    It includes the changes against a baseline: those in ``compared``, by default against the
    baselines that there are. Raises InvalidInput without results.
    """
    from skillyard.evals.report.report import build_report

    config = eval_config(evals_dir)
    where = results or config.paths.results
    latest = [*map(_stored, paths)] if paths else _latest(where)
    if compared is None:
        folder = baselines or config.paths.baselines
        against = [_compare_with_baseline(each, folder, config.regression) for each in latest]
        compared = [each for each in against if os.path.lexists(each.baseline)]
    changes = [line for each in compared for line in each.lines()]
    runs = dict.fromkeys(str(each.envelope["meta"].get("run_id", "report")) for each in latest)
    name = re.sub(r"[^\w-]", "-", "_".join(runs))[:120] or "report"
    return ReportSource(
        build_report([each.envelope for each in latest], changes=changes),
        {id(each.envelope): os.path.dirname(each.path) or "." for each in latest},
        os.path.join(config.paths.reports, name),
        tuple(each.note for each in latest if each.note),
    )


def write_report(source: ReportSource, format: str, *, out: str | None = None) -> tuple[str, str]:
    """Write a report in one of the formats of :data:`REPORTS`; return its text and its path.

    ``out`` is the file, by default one in the reports folder; ``-`` writes none, and the path is
    empty. Beside an HTML report stands a page of all cases with their answers.
    """
    from skillyard.evals.report import render

    path, cases = out or f"{source.out}{REPORTS[format]}", ""
    if format == "html":
        cases = "" if out == "-" else cases_page(path)
        text = render.html(source.report, cases_link=quote(os.path.basename(cases)))
    else:
        text = render.junit(source.report) if format == "junit" else render.markdown(source.report)
    if out == "-":
        return text, ""
    _write(path, text)
    if cases:
        entries = {key: Entries(folder) for key, folder in source.folders.items()}

        def text_of(run: Results, name: str) -> str | None:
            """Return the text of a kept answer, or of a judge's reply."""
            entry = entries[id(run.value)].read(name)
            return entry and entry.get("text", entry.get("raw_judge_text"))

        back = quote(os.path.basename(path))
        _write(cases, render.html_cases(source.report, text_of, report_link=back))
    return text, path


def cases_page(path: str) -> str:
    """Return the path of the page of cases that stands beside an HTML report."""
    return f"{path.removesuffix('.html')}.cases.html"


def _write(path: str, text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    write_file(path, data, "report", write_output)
