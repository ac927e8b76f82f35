"""Evaluation results: comparison with a baseline, saving as a baseline, and reports."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from skillyard.base.errors import InvalidInput
from skillyard.base.io.files import write_output
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
from skillyard.evals.storage import Entries, latest_of_each, read_results, write_file

if TYPE_CHECKING:
    from skillyard.evals.report.report import Report
    from skillyard.evals.report.values import Results

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
    folder, rules = baselines or config.paths.baselines, config.regression
    if runs:
        if len(runs) != 2:
            raise InvalidInput("name two results files, the earlier one first, or none")
        envelopes = [read_results(each) for each in runs]
        return EvalComparison((compare_runs(runs[0], runs[1], envelopes, rules),))
    if path is not None:
        return EvalComparison((compare_with_baseline(path, read_results(path), folder, rules),))
    where = results or config.paths.results
    return EvalComparison(compare_folders(where, folder, rules, eval_type))


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
    notes = tuple(each.note for each in saved if each.note)
    return EvalBaselines(folder, tuple(each.path for each in saved), notes)


def stored_baselines(evals_dir: str, baselines: str | None = None) -> EvalBaselines:
    """Return the baselines of a folder, in the order of the layers."""
    folder = baselines or eval_config(evals_dir).paths.baselines
    places = (baseline_path(folder, each) for each in LAYERS)
    return EvalBaselines(folder, tuple(path for path in places if os.path.lexists(path)))


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
    newest = [] if paths else list(latest_of_each(where))
    read = [(path, read_results(path)) for path in paths]
    read += [(each.path, each.envelope) for each in newest]
    if not read:
        raise InvalidInput(f"no results in {where}; run `skillyard eval` first")
    if compared is None:
        folder = baselines or config.paths.baselines
        against = [compare_with_baseline(*each, folder, config.regression) for each in read]
        compared = [each for each in against if os.path.lexists(each.baseline)]
    changes = [line for each in compared for line in each.lines()]
    runs = dict.fromkeys(str(each["meta"].get("run_id", "report")) for _, each in read)
    name = re.sub(r"[^\w-]", "-", "_".join(runs))[:120] or "report"
    return ReportSource(
        build_report([envelope for _, envelope in read], changes=changes),
        {id(envelope): os.path.dirname(path) or "." for path, envelope in read},
        os.path.join(config.paths.reports, name),
        tuple(each.note for each in newest if each.note),
    )


def write_report(source: ReportSource, format: str, *, out: str | None = None) -> tuple[str, str]:
    """Write a report in one of the formats of :data:`REPORTS`; return its text and its path.

    ``out`` is the file, by default one in the reports folder; ``-`` writes none, and the path is
    empty. Beside an HTML report stands a page of all cases with their answers.
    """
    from skillyard.evals.report import render

    path = out or f"{source.out}{REPORTS[format]}"
    if format != "html":
        text = render.junit(source.report) if format == "junit" else render.markdown(source.report)
        return text, "" if out == "-" else _write(path, text)
    cases = cases_page(path)
    link = "" if out == "-" else quote(os.path.basename(cases))
    text = render.html(source.report, cases_link=link)
    if out == "-":
        return text, ""
    entries = {key: Entries(folder) for key, folder in source.folders.items()}

    def text_of(run: Results, name: str) -> str | None:
        """Return the text of a kept answer, or of a judge's reply."""
        entry = entries[id(run.value)].read(name)
        return entry and entry.get("text", entry.get("raw_judge_text"))

    back = quote(os.path.basename(path))
    _write(path, text)
    _write(cases, render.html_cases(source.report, text_of, report_link=back))
    return text, path


def cases_page(path: str) -> str:
    """Return the path of the page of cases that stands beside an HTML report."""
    return f"{path.removesuffix('.html')}.cases.html"


def _write(path: str, text: str) -> str:
    data = text.encode("utf-8", "backslashreplace")
    write_file(path, data, "report", hint="--out names another file", write=write_output)
    return path
