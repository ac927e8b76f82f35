"""The results of a run as one JSON file: written atomically, and validated when read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from skillyard.errors import InvalidInput, SkillIoError
from skillyard.io.atomic_write import atomic_write

__all__ = ["EVAL_TYPES", "SCHEMA", "latest", "latest_of_each", "read_bounded", "read_results"]
__all__ += ["results_in", "write_results"]

SCHEMA = "skillyard.eval/1"
EVAL_TYPES = ("activation", "confusion", "effectiveness", "size_impact")
"""L3 to L6, in the order of the document."""
RESULT_BYTES = 268_435_456
"""Largest results file that is read: 100,000 cases of 2.5 KB."""


def write_results(results: str, envelope: Mapping[str, Any]) -> str:
    """Write an envelope to ``<type>_<run_id>.json`` and return the path. Raises SkillIoError."""
    meta = envelope["meta"]
    path = os.path.join(results, f"{meta['eval_type']}_{meta['run_id']}.json")
    text = _text(envelope)
    try:
        os.makedirs(results, exist_ok=True)
        atomic_write(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise SkillIoError(
            f"cannot write the results: {error.strerror}",
            path=path,
            hint="check the folder and its space; --output-dir names another one",
        ) from None
    return path


def read_bounded(path: str, max_bytes: int, what: str, *, hint: str) -> bytes:
    """Return the bytes of a file, and one more than ``max_bytes`` of a larger one.

    Raises SkillIoError, which calls the file ``what``.
    """
    try:
        with open(path, "rb") as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        message = f"cannot read the {what}: {error.strerror}"
        raise SkillIoError(message, path=path, hint=hint) from None


def read_results(path: str) -> dict[str, Any]:
    """Return an envelope that may come from anywhere, with its four parts and a known type.

    Raises SkillIoError, and InvalidInput with the path and what is wrong.
    """
    data = read_bounded(path, RESULT_BYTES, "results", hint="check the path")
    try:
        if len(data) > RESULT_BYTES:
            raise ValueError(f"larger than {RESULT_BYTES:,} bytes")
        return _check(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path}: not the results of an evaluation ({error}); "
            "a results file is written by `skillyard eval`"
        ) from None


def results_in(folder: str) -> dict[str, list[str]]:
    """Return the results files of a folder by evaluation type, ordered by name."""
    paths: dict[str, list[str]] = {eval_type: [] for eval_type in EVAL_TYPES}
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise SkillIoError(
            f"cannot list the results: {error.strerror}", path=folder, hint="check --results-dir"
        ) from None
    for name in names:
        for eval_type in EVAL_TYPES:
            if name.startswith(f"{eval_type}_") and name.endswith(".json"):
                paths[eval_type].append(os.path.join(folder, name))
    return paths


def latest(folder: str, eval_type: str) -> tuple[str, dict[str, Any]] | None:
    """Return the newest results of a type by ``meta.timestamp`` (not by the file's time).

    If timestamps are equal, the later run id wins. None if there are none. Raises as the functions
    above.
    """
    best: tuple[tuple[str, str], str, dict[str, Any]] | None = None
    for path in results_in(folder)[eval_type]:
        envelope = read_results(path)
        meta = envelope["meta"]
        order = (str(meta.get("timestamp", "")), str(meta.get("run_id", "")))
        if best is None or order > best[0]:
            best = (order, path, envelope)
    return (best[1], best[2]) if best else None


def latest_of_each(
    folder: str, eval_type: str | None = None
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (type, path, envelope) of the newest results of each type, or of one type only."""
    for each in EVAL_TYPES if eval_type is None else (eval_type,):
        results = latest(folder, each)
        if results is not None:
            yield each, *results


def _text(envelope: Mapping[str, Any]) -> str:
    """Return an envelope as JSON: a line for each case, entity, artifact and field of ``meta``.

    So it can be read, and compared line by line; the standard library indents only with its slow
    encoder.
    """
    parts = [f"{_json(name)}: {_part(part)}" for name, part in envelope.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _part(part: Any) -> str:
    if isinstance(part, dict) and part:
        return "{\n " + ",\n ".join(f"{_json(key)}: {_json(part[key])}" for key in part) + "\n}"
    if isinstance(part, list) and part:
        return "[\n " + ",\n ".join(map(_json, part)) + "\n]"
    return _json(part)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _check(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    for part, kind in (("meta", dict), ("summary", dict), ("cases", list), ("artifacts", dict)):
        if not isinstance(value.get(part), kind):
            raise ValueError(f"`{part}` is missing or of another type")
    if value["meta"].get("eval_type") not in EVAL_TYPES:
        raise ValueError(f"`meta.eval_type` is none of {', '.join(EVAL_TYPES)}")
    if not all(isinstance(case, dict) for case in value["cases"]):
        raise ValueError("a case is not a JSON object")
    if not all(isinstance(entity, dict) for entity in value["summary"].values()):
        raise ValueError("an entry of the summary is not a JSON object")
    return value
