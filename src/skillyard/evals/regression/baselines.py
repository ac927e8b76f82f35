"""Baselines: summaries and measures of whole runs, to which later runs are compared."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.evals.config_values import Regression
from skillyard.evals.layers.protocol import load_layer
from skillyard.evals.regression.measures import measures_from
from skillyard.evals.storage.case_shapes import check_cases
from skillyard.evals.storage.files import read_bounded, write_file
from skillyard.evals.storage.results import latest_of_each, part_of_run, results_in

BASELINE = "_baseline.json"
"""``<type>_baseline.json``."""

BASELINE_BYTES = 16_777_216

_META = (
    "run_id",
    "timestamp",
    "eval_type",
    "model",
    "judge_model",
    "provider",
    "host",
    "router",
    "index",
    "seed",
    "runs",
    "orders",
    "backend",
    "dataset_sha256",
    "skill_sha256s",
    "engine_version",
)


class SavedBaseline(NamedTuple):
    """A baseline that was written."""

    path: str
    note: str
    """A sentence on newer results that are no whole run; empty without any."""


def save_baseline(
    results: str, baselines: str, eval_type: str | None = None
) -> tuple[SavedBaseline, ...]:
    """Store the summaries of the latest results as baselines, and return what was saved.

    Nothing is written unless all of them can be baselines. Raises InvalidInput when there are no
    results or they cannot be a baseline (aborted, limited, filtered, or from a stand-in), and
    SkillIoError.
    """
    texts = {}
    for each in latest_of_each(results, eval_type):
        meta = each.envelope["meta"]
        why = part_of_run(meta)
        if not why and meta.get("backend") == "fake":
            why = "a stand-in server made the answers"
        if why:
            raise InvalidInput(f"{each.path} cannot be a baseline: {why}")
        check_cases(each.path, each.envelope)
        place = os.path.join(baselines, f"{each.eval_type}{BASELINE}")
        texts[SavedBaseline(place, each.note)] = _text(each.envelope)
    if not texts:
        available = (
            ", ".join(name for name, paths in results_in(results).items() if paths) or "none"
        )
        raise InvalidInput(
            f"no results of {eval_type or 'any type'} in {results} (there: {available})"
        )
    for saved, text in texts.items():
        write_file(saved.path, f"{text}\n", "baseline", hint="check --baselines-dir")
    return tuple(texts)


def _text(envelope: Mapping[str, Any]) -> str:
    """Return the document of a baseline."""
    meta = {name: envelope["meta"].get(name) for name in _META}
    layer = load_layer(envelope["meta"]["eval_type"])
    stored = {
        "meta": meta,
        "summary": envelope["summary"],
        "measures": [
            measure.to_dict() for measure in layer.measures(envelope["cases"], Regression())
        ],
    }
    return json.dumps(stored, indent=1, sort_keys=True)


def read_baseline(path: str) -> dict[str, Any]:
    """Return a baseline: ``meta``, ``summary``, ``measures``. Raises SkillIoError, InvalidInput."""
    data = read_bounded(path, BASELINE_BYTES, "baseline", hint="check --baselines-dir")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("meta"), dict)
        or not isinstance(value.get("summary"), dict)
        or not all(isinstance(entity, dict) for entity in value["summary"].values())
    ):
        raise InvalidInput(f"{path}: not a baseline; `skillyard eval compare --save` writes one")
    if "measures" in value:  # a baseline of an earlier release has none
        _check_measures(path, value["measures"])
    return value


def _check_measures(path: str, records: object) -> None:
    try:
        measures_from(records)
    except InvalidInput as error:
        raise InvalidInput(
            f"{path}: the baseline is damaged: {error}; save it again from its results with"
            " `skillyard eval compare --save`"
        ) from None
