"""Evaluation results: comparison with a baseline, saving as a baseline, and reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from skillyard.catalog import Catalog
from skillyard.errors import Diagnostic, InvalidInput, SkillIoError
from skillyard.evals.config_values import Config
from skillyard.evals.regression.baselines import BASELINE, read_baseline, save_baseline
from skillyard.evals.regression.comparison import (
    BaselineComparison,
    compare_folders,
    compare_results,
)
from skillyard.evals.storage.entries import Entries
from skillyard.evals.storage.results import EVAL_TYPES, latest, read_results
from skillyard.io.atomic_write import write_output
from skillyard.usecases.eval_runs import eval_config

__all__ = [
    "REPORTS",
    "EvalBaselines",
    "EvalCompared",
    "RubricsChecked",
    "check_rubrics",
    "eval_compare",
    "eval_report",
    "github_warnings",
    "report_text",
    "save_baselines",
    "stored_baselines",
]

REPORTS = {"html": ".html", "md": ".md", "junit": ".junit.xml", "github": ".github.txt"}
"""Formats of a report, and how their files end."""


class EvalCompared(NamedTuple):
    """The latest results of each type against their baselines."""

    compared: tuple[BaselineComparison, ...]

    @property
    def regressed(self) -> bool:
        """True when a measure dropped by more than its threshold."""
        return any(each.regressions for each in self.compared)

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-compare/1``."""
        return {
            "schema": "skillyard.eval-compare/1",
            "regressed": self.regressed,
            "compared": [each.to_dict() for each in self.compared],
        }


class EvalBaselines(NamedTuple):
    """The baselines of a folder."""

    folder: str
    baselines: tuple[dict[str, Any], ...]
    """``path``, and the run that it comes from."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-baselines/1``."""
        return {
            "schema": "skillyard.eval-baselines/1",
            "folder": self.folder,
            "baselines": list(self.baselines),
        }


class RubricsChecked(NamedTuple):
    """The diagnostics of a set of rubrics."""

    rubrics: int
    """Those without an error."""
    diagnostics: tuple[Diagnostic, ...]

    @property
    def valid(self) -> bool:
        """True when no finding is an error."""
        return not any(each.severity == "error" for each in self.diagnostics)

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-rubrics/1``."""
        return {
            "schema": "skillyard.eval-rubrics/1",
            "rubrics": self.rubrics,
            "valid": self.valid,
            "diagnostics": [each.to_dict() for each in self.diagnostics],
        }


def eval_compare(
    evals_dir: str,
    *,
    results: str | None = None,
    baselines: str | None = None,
    eval_type: str | None = None,
) -> EvalCompared:
    """Compare the latest results with their baselines. Raises InvalidInput, SkillIoError."""
    config = eval_config(evals_dir)
    return EvalCompared(
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
    written = save_baseline(results or config.paths.results, folder, eval_type)
    return EvalBaselines(folder, tuple(map(_baseline, written)))


def stored_baselines(
    evals_dir: str, *, baselines: str | None = None, eval_type: str | None = None
) -> EvalBaselines:
    """Return the baselines of a folder, in the order of the layers."""
    folder = baselines or eval_config(evals_dir).paths.baselines
    types = EVAL_TYPES if eval_type is None else (eval_type,)
    places = [os.path.join(folder, f"{each}{BASELINE}") for each in types]
    return EvalBaselines(folder, tuple(_baseline(path) for path in places if os.path.lexists(path)))


def _baseline(path: str) -> dict[str, Any]:
    baseline = read_baseline(path)
    meta = baseline["meta"]
    names = ("eval_type", "run_id", "timestamp", "model", "judge_model", "router", "backend")
    return {
        "path": path,
        **{name: meta.get(name) for name in names},
        "entities": len(baseline["summary"]),
    }


def check_rubrics(evals_dir: str, rubrics: str | None, catalog: Catalog) -> RubricsChecked:
    """Return the diagnostics of the rubrics of a folder. Raises InvalidInput without any."""
    from skillyard.evals.cases.rubrics import read_rubrics

    folder = rubrics or eval_config(evals_dir).paths.rubrics
    data = read_rubrics(folder, catalog)
    if not data.files:
        raise InvalidInput(f"there are no rubrics in {folder}; `skillyard eval init` writes one")
    return RubricsChecked(len(data.cases), data.diagnostics)


def eval_report(
    evals_dir: str,
    paths: Sequence[str],
    format: str,
    *,
    results: str | None = None,
    baselines: str | None = None,
    out: str | None = None,
) -> tuple[str, str]:
    """Render results as a report; return its text, and the path of its file.

    ``paths`` are results files, by default the latest of each type. ``out`` is the file, by default
    one in the reports folder; ``-`` writes none, and the path is empty. The report includes the
    changes against a baseline if there is one. Raises InvalidInput without results.
    """
    config = eval_config(evals_dir)
    folder = results or config.paths.results
    envelopes = [read_results(path) for path in paths] or _latest(folder)
    if not envelopes:
        raise InvalidInput(f"no results in {folder}; run `skillyard eval` first")
    results_folder = os.path.dirname(paths[0]) or "." if paths else folder
    text = report_text(
        envelopes, format, results_folder, baselines or config.paths.baselines, config
    )
    if out == "-":
        return text, ""
    name = "_".join(dict.fromkeys(str(each["meta"].get("run_id", "report")) for each in envelopes))
    path = out or os.path.join(config.paths.reports, f"{_file_name(name)}{REPORTS[format]}")
    _write(path, text)
    return text, path


def report_text(
    envelopes: Sequence[Mapping[str, Any]],
    format: str,
    results: str,
    baselines: str,
    config: Config,
) -> str:
    """Return a report in one of the formats of :data:`REPORTS`; texts come from ``results``."""
    changes = _changes(envelopes, baselines, config)
    if format == "html":
        from skillyard.evals.report.html import render

        title = "Skill evaluation"
        return render(envelopes, text_of=_texts(results), title=title, changes=changes)
    if format == "md":
        from skillyard.evals.report.markdown import render as markdown

        return markdown(envelopes, changes=changes)
    if format == "junit":
        from skillyard.evals.report.junit import render as junit

        return junit(envelopes, changes=changes)
    from skillyard.evals.report.github import render as github

    return github(envelopes, changes=changes)


def github_warnings(evals_dir: str, paths: Sequence[str], *, baselines: str | None = None) -> str:
    """Return GitHub workflow commands, one ``::warning`` a line; empty without problems."""
    from skillyard.evals.report.github import workflow_warnings

    config = eval_config(evals_dir)
    envelopes = [read_results(path) for path in paths]
    changes = _changes(envelopes, baselines or config.paths.baselines, config)
    return workflow_warnings(envelopes, changes=changes)


def _latest(folder: str) -> list[dict[str, Any]]:
    results = [latest(folder, eval_type) for eval_type in EVAL_TYPES]
    return [each[1] for each in results if each is not None]


def _changes(
    envelopes: Sequence[Mapping[str, Any]], baselines: str, config: Config
) -> list[dict[str, Any]]:
    """Return the changes of results against their baselines, where they can be compared."""
    changes: list[dict[str, Any]] = []
    for envelope in envelopes:
        path = os.path.join(baselines, f"{envelope['meta']['eval_type']}{BASELINE}")
        if os.path.lexists(path):
            compared = compare_results(read_baseline(path), envelope, config.regression)
            if not isinstance(compared, str):
                changes += [change.to_dict() for change in compared]
    return changes


def _texts(results: str) -> Callable[[str], str | None]:
    """Return what gives the text of a kept answer, or of a judge's reply, by its path."""
    entries = Entries(results)

    def text_of(path: str) -> str | None:
        parts = path.split("/")
        if len(parts) != 3 or any(part in ("", ".", "..") or "\\" in part for part in parts):
            return None  # a path of a results file may come from anywhere
        entry = entries.read(path)
        text = (entry or {}).get("text", (entry or {}).get("raw_judge_text"))
        return text if isinstance(text, str) else None

    return text_of


def _file_name(name: str) -> str:
    safe = "".join(char if char.isalnum() or char in "-_" else "-" for char in name)
    return safe[:120] or "report"


def _write(path: str, text: str) -> None:
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write_output(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise SkillIoError(
            f"cannot write the report: {error.strerror}", path=path, hint="--out names another file"
        ) from None
