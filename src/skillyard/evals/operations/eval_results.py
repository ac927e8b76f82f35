"""Evaluation results: comparison with a baseline, saving as a baseline, and reports."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from skillyard.base.errors import InvalidInput
from skillyard.base.io.atomic_write import write_output
from skillyard.evals.config_values import Config
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.operations.eval_runs import eval_config
from skillyard.evals.regression.baselines import (
    BaselineComparison,
    baseline_path,
    compare_folders,
    compare_runs,
    compare_with_baseline,
    save_baseline,
)
from skillyard.evals.storage.entries import Entries, write_file
from skillyard.evals.storage.results import latest_of_each, read_results

if TYPE_CHECKING:
    from skillyard.evals.report.layer_view import Results
    from skillyard.evals.report.render import TextOf
    from skillyard.evals.report.report import Report

REPORTS = {"html": ".html", "md": ".md", "junit": ".junit.xml"}
"""Formats of a report, and how their files end."""


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
            if each.refused:
                raise InvalidInput(
                    f"{each.eval_type}: not compared, so the gate would pass whatever happened:"
                    f" {each.refused}"
                )
            if each.blind:
                raise InvalidInput(
                    f"{each.eval_type}: less than half of the cases are in the baseline too, so"
                    " the gate would pass whatever happened; `skillyard eval compare --save`"
                    f" keeps a new baseline. {each.note}"
                )

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-compare/1``."""
        return {
            "schema": "skillyard.eval-compare/1",
            "regressed": self.regressed,
            "compared": [each.to_dict() for each in self.compared],
        }


class EvalBaselines(NamedTuple):
    """The baselines that were saved, or those of a folder."""

    folder: str
    baselines: tuple[str, ...]
    """Their files."""
    notes: tuple[str, ...] = ()
    """Sentences on newer results that were passed over."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-baselines/1``."""
        return {"schema": "skillyard.eval-baselines/1", **self._asdict()}


def eval_compare(
    evals_dir: str,
    *,
    results: str | None = None,
    baselines: str | None = None,
    eval_type: str | None = None,
    path: str | None = None,
    runs: Sequence[str] = (),
) -> EvalComparison:
    """Compare the latest results, or those in the file ``path``, with their baselines.

    ``runs`` are two results files, of which the second is compared with the first instead. Raises
    InvalidInput, SkillIoError.
    """
    config = eval_config(evals_dir)
    if runs:
        if len(runs) != 2:
            raise InvalidInput("name two results files, the earlier one first, or none")
        before, after = runs
        envelopes = [read_results(each) for each in runs]
        return EvalComparison((compare_runs(before, after, envelopes, config.regression),))
    if path is not None:
        folder = baselines or config.paths.baselines
        compared = compare_with_baseline(path, read_results(path), folder, config.regression)
        return EvalComparison((compared,))
    return EvalComparison(
        compare_folders(
            results or config.paths.results,
            baselines or config.paths.baselines,
            config.regression,
            eval_type,
        )
    )


def save_baselines(
    evals_dir: str,
    *,
    results: str | None = None,
    baselines: str | None = None,
    eval_type: str | None = None,
) -> EvalBaselines:
    """Save the latest results as baselines. Raises InvalidInput for unsuitable results."""
    config = eval_config(evals_dir)
    folder = baselines or config.paths.baselines
    saved = save_baseline(results or config.paths.results, folder, eval_type)
    return EvalBaselines(
        folder,
        tuple(each.path for each in saved),
        tuple(each.note for each in saved if each.note),
    )


def stored_baselines(evals_dir: str, baselines: str | None = None) -> EvalBaselines:
    """Return the baselines of a folder, in the order of the layers."""
    folder = baselines or eval_config(evals_dir).paths.baselines
    places = (baseline_path(folder, each) for each in LAYERS)
    return EvalBaselines(folder, tuple(path for path in places if os.path.lexists(path)))


class ReportSource(NamedTuple):
    """A report, and the results that it is made from."""

    report: Report
    results: tuple[tuple[dict[str, Any], str], ...]
    """Envelopes, each with the folder of its stored answers."""
    reports: str
    """The folder of reports."""
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
    folder = results or config.paths.results
    read = [(path, read_results(path)) for path in paths]
    newest = [] if read else list(latest_of_each(folder))
    read = read or [(each.path, each.envelope) for each in newest]
    envelopes = [envelope for _, envelope in read]
    if not read:
        raise InvalidInput(f"no results in {folder}; run `skillyard eval` first")
    if compared is None:
        compared = _comparisons(read, baselines or config.paths.baselines, config)
    changes = [line for each in compared for line in each.lines()]
    report = build_report(envelopes, changes=changes)
    sources = tuple((envelope, os.path.dirname(path) or ".") for path, envelope in read)
    notes = tuple(each.note for each in newest if each.note)
    return ReportSource(report, sources, config.paths.reports, notes)


def write_report(source: ReportSource, format: str, *, out: str | None = None) -> tuple[str, str]:
    """Write a report in one of the formats of :data:`REPORTS`; return its text and its path.

    ``out`` is the file, by default one in the reports folder; ``-`` writes none, and the path is
    empty. Beside an HTML report stands a page of all cases with their answers.
    """
    if out == "-":
        return _report_text(source.report, format, ""), ""
    runs = dict.fromkeys(str(each["meta"].get("run_id", "report")) for each, _ in source.results)
    name = f"{_file_name('_'.join(runs))}{REPORTS[format]}"
    path = out or os.path.join(source.reports, name)
    cases_path = cases_page(path)
    text = _report_text(source.report, format, quote(os.path.basename(cases_path)))
    _write(path, text)
    if format == "html":
        from skillyard.evals.report.render import html_cases

        report_link = quote(os.path.basename(path))
        _write(cases_path, html_cases(source.report, _texts(source), report_link=report_link))
    return text, path


def cases_page(path: str) -> str:
    """Return the path of the page of cases that stands beside an HTML report."""
    return f"{path.removesuffix('.html')}.cases.html"


def _report_text(report: Report, format: str, cases_link: str) -> str:
    from skillyard.evals.report import render

    if format == "html":
        return render.html(report, cases_link=cases_link)
    if format == "junit":
        return render.junit(report)
    return render.markdown(report)


def _comparisons(
    read: Sequence[tuple[str, Mapping[str, Any]]], baselines: str, config: Config
) -> list[BaselineComparison]:
    """Return the results against their baselines; those of a type without one are left out."""
    compared = (
        compare_with_baseline(path, envelope, baselines, config.regression)
        for path, envelope in read
    )
    return [each for each in compared if os.path.lexists(each.baseline)]


def _texts(source: ReportSource) -> TextOf:
    """Return what gives the text of a kept answer, or of a judge's reply, by its path."""
    entries = {id(envelope): Entries(folder) for envelope, folder in source.results}

    def text_of(run: Results, path: str) -> str | None:
        entry = entries[id(run.value)].read(path)
        return entry and entry.get("text", entry.get("raw_judge_text"))

    return text_of


def _file_name(name: str) -> str:
    safe = "".join(char if char.isalnum() or char in "-_" else "-" for char in name)
    return safe[:120] or "report"


def _write(path: str, text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    write_file(path, data, "report", hint="--out names another file", write=write_output)
