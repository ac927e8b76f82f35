"""Baselines: stored summaries of whole runs, to which later runs are compared."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from skillyard.errors import InvalidInput, SkillIoError
from skillyard.evals.storage.results import latest_of_each, read_bounded, results_in
from skillyard.io.atomic_write import atomic_write

__all__ = ["BASELINE", "read_baseline", "reason_not_whole", "save_baseline"]

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


def save_baseline(results: str, baselines: str, eval_type: str | None = None) -> tuple[str, ...]:
    """Store the summaries of the latest results as baselines, and return the files written.

    Raises InvalidInput when there are no results or they cannot be a baseline (aborted, limited,
    filtered, or from a stand-in), and SkillIoError.
    """
    paths = []
    for each, path, envelope in latest_of_each(results, eval_type):
        why = reason_not_whole(envelope["meta"])
        if why:
            raise InvalidInput(f"{path} cannot be a baseline: {why}")
        paths.append(_save(os.path.join(baselines, f"{each}{BASELINE}"), envelope))
    if not paths:
        available = (
            ", ".join(name for name, paths in results_in(results).items() if paths) or "none"
        )
        raise InvalidInput(
            f"no results of {eval_type or 'any type'} in {results} (there: {available})"
        )
    return tuple(paths)


def _save(path: str, envelope: Mapping[str, Any]) -> str:
    meta = {name: envelope["meta"].get(name) for name in _META}
    text = json.dumps({"meta": meta, "summary": envelope["summary"]}, indent=1, sort_keys=True)
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        atomic_write(path, f"{text}\n".encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise SkillIoError(
            f"cannot keep the baseline: {error.strerror}", path=path, hint="check --baselines-dir"
        ) from None
    return path


def read_baseline(path: str) -> dict[str, Any]:
    """Return a baseline: ``meta`` and ``summary``. Raises SkillIoError, InvalidInput."""
    data = read_bounded(path, BASELINE_BYTES, "baseline", hint="check --baselines-dir")
    try:
        value = json.loads(data) if len(data) <= BASELINE_BYTES else None
    except (ValueError, RecursionError):
        value = None
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("meta"), dict)
        or not isinstance(value.get("summary"), dict)
        or not all(isinstance(entity, dict) for entity in value["summary"].values())
    ):
        raise InvalidInput(f"{path}: not a baseline; `skillyard eval baseline save` writes one")
    return value


def reason_not_whole(meta: Mapping[str, Any]) -> str:
    """Return why results do not represent a whole run; empty where they do."""
    if meta.get("aborted"):
        return f"the run was stopped ({meta.get('stop_reason') or 'before its end'})"
    if meta.get("limit") is not None:
        return "the run was limited (--limit)"
    if meta.get("skill") is not None or meta.get("group") is not None:
        return "the run looked at a part of the cases (--skill, --group)"
    if meta.get("backend") == "fake":
        return "a stand-in server made the answers"
    return ""
