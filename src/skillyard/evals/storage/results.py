"""The results of a run as one JSON file: written atomically, and read with its four parts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.io.files import read_regular
from skillyard.base.text import plural
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.storage.entries import FOLDER_HINT, write_file

SCHEMA = "skillyard.eval/1"
DEGRADED = 0.1
"""A run with a larger share of errors is marked as degraded (evals.md §1.14)."""
TRUNCATED_PAIR = "truncated"
"""Why a pair was not judged of which an answer reached the limit of output tokens."""
RESULT_BYTES = 268_435_456
"""Largest results file that is read: 100,000 cases of 2.5 KB."""


class _Envelope(TypedDict):
    meta: dict[str, Any]
    summary: dict[str, dict[str, Any]]
    cases: list[dict[str, Any]]
    artifacts: dict[str, Any]


_ENVELOPE = TypeAdapter(_Envelope)


def write_results(results: str, envelope: Mapping[str, Any]) -> str:
    """Write an envelope to ``<type>_<run_id>.json`` and return the path. Raises SkillIoError."""
    meta = envelope["meta"]
    path = os.path.join(results, f"{meta['eval_type']}_{meta['run_id']}.json")
    write_envelope(path, envelope, "results")
    return path


def write_envelope(
    path: str, envelope: Mapping[str, Any], what: str, *, hint: str = FOLDER_HINT
) -> None:
    """Write results to a file. Raises SkillIoError, which calls it ``what``.

    Half of a surrogate pair in a prompt is written as its escape.
    """
    text = json.dumps(envelope, indent=1, ensure_ascii=False) + "\n"
    write_file(path, text.encode("utf-8", "backslashreplace"), what, hint=hint)


def read_results(path: str) -> dict[str, Any]:
    """Return an envelope that may come from anywhere, with its four parts and a known type.

    Raises SkillIoError, and InvalidInput with the path and what is wrong.
    """
    try:
        envelope = json.loads(read_regular(path, RESULT_BYTES, follow=True)[0])
        _ENVELOPE.validate_python(envelope, strict=True)
        if envelope["meta"].get("eval_type") not in tuple(LAYERS):  # it may be unhashable
            raise ValueError(f"`meta.eval_type` is none of {', '.join(LAYERS)}")
    except OSError as error:
        message = f"cannot read the results: {error.strerror}"
        raise SkillIoError(message, path=path, hint="check the path") from None
    except (ValueError, RecursionError) as error:
        why = str(error)
        if isinstance(error, ValidationError):
            fault = error.errors(include_url=False)[0]
            why = f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
        raise InvalidInput(
            f"{path}: not the results of an evaluation ({why}); "
            "a results file is written by `skillyard eval`"
        ) from None
    return dict(envelope)


def results_in(folder: str) -> dict[str, list[str]]:
    """Return the results files of a folder by evaluation type, ordered by name."""
    paths: dict[str, list[str]] = {eval_type: [] for eval_type in LAYERS}
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        message = f"cannot list the results: {error.strerror}"
        raise SkillIoError(message, path=folder, hint="check --results-dir") from None
    for name in names:
        for eval_type in LAYERS:
            if name.startswith(f"{eval_type}_") and name.endswith(".json"):
                paths[eval_type].append(os.path.join(folder, name))
    return paths


class LatestResult(NamedTuple):
    """The results of one type that stand for it."""

    eval_type: str
    path: str
    envelope: dict[str, Any]
    note: str = ""
    """A sentence on newer results that are no whole run: stopped, or of a part of the cases."""


def latest(folder: str, eval_type: str) -> LatestResult | None:
    """Return the newest whole results of a type by ``meta.timestamp`` (not by the file's time).

    If timestamps are equal, the later run id wins. Results of a part of the cases, or of a stopped
    run, are returned only where there are no whole ones. Results of a stand-in are returned only
    where there are no others, since they say nothing about a skill. None if there are none. Raises
    as the functions above.
    """
    ranked = []
    for path in results_in(folder)[eval_type]:
        meta = read_results(path)["meta"]
        age = (str(meta.get("timestamp", "")), str(meta.get("run_id", "")))
        ranked.append((meta.get("backend") != "fake", not part_of_run(meta), age, path))
    if not ranked:
        return None
    best, note = max(ranked), ""
    newer = sorted(each[2:] for each in ranked if each[0] and each[2] > best[2])
    if newer and best[:2] == (True, True):
        note = (
            f"{plural(len(newer), 'newer result')} of {eval_type} passed over, the last of them"
            f" {os.path.basename(newer[-1][1])}: a run that was stopped or limited does not replace"
            " a whole one"
        )
    return LatestResult(eval_type, best[3], read_results(best[3]), note)


def latest_of_each(folder: str, eval_type: str | None = None) -> Iterator[LatestResult]:
    """Yield the latest results of each type, or of one type only."""
    for each in LAYERS if eval_type is None else (eval_type,):
        results = latest(folder, each)
        if results is not None:
            yield results


def part_of_run(meta: Mapping[str, Any]) -> str:
    """Return why results are not those of a whole run; empty where they are."""
    if meta.get("aborted"):
        return f"the run was stopped ({meta.get('stop_reason') or 'before its end'})"
    if meta.get("limit") is not None:
        return "the run was limited (--limit)"
    if meta.get("skill") is not None:
        return "the run looked at a part of the cases (--skill)"
    if meta.get("old_version") is not None:
        return "the run compared with old versions (--old-version)"
    return ""
