"""Results of evaluations in the formats of other tools."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from skillyard.errors import InvalidInput
from skillyard.evals.storage.case_shapes import check_cases, damaged_results
from skillyard.evals.storage.entries import Entries
from skillyard.evals.storage.files import write_file
from skillyard.evals.storage.inspect_log import inspect_logs
from skillyard.evals.storage.results import latest_of_each, read_results
from skillyard.usecases.eval_runs import eval_config

__all__ = ["FORMATS", "Export", "eval_export"]

FORMATS = ("inspect",)


class Export(NamedTuple):
    """The files that were written."""

    format: str
    written: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-export/1``."""
        return {"schema": "skillyard.eval-export/1", **self._asdict()}


def eval_export(
    evals_dir: str,
    paths: Sequence[str],
    format: str,
    *,
    results: str | None = None,
    out: str | None = None,
) -> Export:
    """Write results for another tool into the folder ``out``; each file replaces one of its name.

    ``paths`` are results files, by default the latest of each type. ``out`` is by default a folder
    below the reports. Raises InvalidInput without results or for an unknown format, SkillIoError.
    """
    if format not in FORMATS:
        raise InvalidInput(f"no format {format!r}; known: {', '.join(FORMATS)}")
    config = eval_config(evals_dir)
    folder = results or config.paths.results
    exported = [(path, read_results(path)) for path in paths] or [
        (each.path, each.envelope) for each in latest_of_each(folder)
    ]
    if not exported:
        raise InvalidInput(f"no results in {folder}; run `skillyard eval` first")
    target = out or os.path.join(config.paths.reports, format)
    written = []
    for path, envelope in exported:
        check_cases(path, envelope)
        if not all(isinstance(envelope["meta"].get(name), str) for name in ("run_id", "timestamp")):
            raise damaged_results(path, "meta.run_id or meta.timestamp")
        entries = Entries(os.path.dirname(path) or ".")
        for log in inspect_logs(envelope, entries.read_named):
            if os.path.basename(log.name) != log.name:
                raise damaged_results(path, "meta.timestamp, or a condition,")
            file = os.path.join(target, log.name)
            text = json.dumps(log.document, ensure_ascii=False, indent=2)
            write_file(file, text, "log", hint="--out names another folder")
            written.append(file)
    return Export(format, tuple(written))
