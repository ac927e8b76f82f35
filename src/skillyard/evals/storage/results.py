"""The results of a run as one JSON file: written atomically, and validated when read.

A report shows what a file has. A comparison calculates with its cases, so for it a field that is
absent or of another type is an error that names the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, NamedTuple, NotRequired

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.text import plural
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.storage.files import FOLDER_HINT, read_bounded, write_file

SCHEMA = "skillyard.eval/1"
DEGRADED = 0.1
"""A run with a larger share of errors is marked as degraded (evals.md §1.14)."""
TRUNCATED_PAIR = "truncated"
"""Why a pair was not judged of which an answer reached the limit of output tokens."""
RESULT_BYTES = 268_435_456
"""Largest results file that is read: 100,000 cases of 2.5 KB."""


def write_results(results: str, envelope: Mapping[str, Any]) -> str:
    """Write an envelope to ``<type>_<run_id>.json`` and return the path. Raises SkillIoError."""
    meta = envelope["meta"]
    path = os.path.join(results, f"{meta['eval_type']}_{meta['run_id']}.json")
    write_envelope(path, envelope, "results")
    return path


def write_envelope(
    path: str, envelope: Mapping[str, Any], what: str, *, hint: str = FOLDER_HINT
) -> None:
    """Write results to a file. Raises SkillIoError, which calls it ``what``."""
    write_file(path, _text(envelope), what, hint=hint)


def read_results(path: str) -> dict[str, Any]:
    """Return an envelope that may come from anywhere, with its four parts and a known type.

    Raises SkillIoError, and InvalidInput with the path and what is wrong.
    """
    data = read_bounded(path, RESULT_BYTES, "results", hint="check the path")
    try:
        return _check(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path}: not the results of an evaluation ({error}); "
            "a results file is written by `skillyard eval`"
        ) from None


_Count = Annotated[int, Field(ge=0, le=1_000_000)]
_Score = Annotated[float, Field(ge=-1e6, le=1e6)]


class _AnyCase(TypedDict):
    id: str
    run_index: _Count


class _ActivationCase(_AnyCase):
    passed: bool | None
    should_activate: bool
    expected_skills: list[str]
    acceptable_skills: list[str]
    picked: list[str]


class _PairCase(_AnyCase):
    skill_name: str
    prompt_index: _Count
    condition_a: str
    condition_b: str
    scores: dict[str, _Score] | None
    improvement: _Score | None
    winner: str | None
    lost: NotRequired[list[str]]


@cache
def _cases_of(eval_type: str) -> TypeAdapter[Any]:
    routes = LAYERS[eval_type].routes
    return TypeAdapter(list[_ActivationCase]) if routes else TypeAdapter(list[_PairCase])


def check_cases(path: str, envelope: Mapping[str, Any]) -> None:
    """Raise InvalidInput, with the file and the case, where a field is not what a layer writes."""
    cases = envelope["cases"]
    try:
        _cases_of(envelope["meta"]["eval_type"]).validate_python(cases, strict=True)
        where = next(
            (f"[{number}].scores" for number, case in enumerate(cases) if not _both(case)), ""
        )
    except ValidationError as error:
        number, *rest = error.errors(include_url=False)[0]["loc"]
        where = f"[{number}].{'.'.join(map(str, rest))}"
    if where:
        raise InvalidInput(
            f"{path}: the results are damaged: cases{where} is missing or not of its type; take an"
            " undamaged copy, or make them again with `skillyard eval` (answers that are stored"
            " cost nothing)"
        )


def _both(case: Mapping[str, Any]) -> bool:
    """True if a judged case has the scores of both conditions, and what follows from them."""
    if case.get("scores") is None or case.get("errors") or case.get("skipped"):
        return True
    both = {case["condition_a"], case["condition_b"]}
    has_winner = case["winner"] in {*both, "tie"} and case["improvement"] is not None
    return has_winner and both <= case["scores"].keys()


def results_in(folder: str) -> dict[str, list[str]]:
    """Return the results files of a folder by evaluation type, ordered by name."""
    paths: dict[str, list[str]] = {eval_type: [] for eval_type in LAYERS}
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise SkillIoError(
            f"cannot list the results: {error.strerror}", path=folder, hint="check --results-dir"
        ) from None
    for name in names:
        types = [each for each in LAYERS if name.startswith(f"{each}_")]
        if types and name.endswith(".json"):  # one type may be the beginning of another
            paths[max(types, key=len)].append(os.path.join(folder, name))
    return paths


class LatestResult(NamedTuple):
    """The results of one type that stand for it."""

    eval_type: str
    path: str
    envelope: dict[str, Any]
    passed_over: tuple[str, ...] = ()
    """Newer results that are no whole run (stopped, or of a part of the cases), oldest first."""

    @property
    def note(self) -> str:
        """One sentence on the newer results; empty without any."""
        if not self.passed_over:
            return ""
        files = plural(len(self.passed_over), "newer result")
        last = os.path.basename(self.passed_over[-1])
        return (
            f"{files} of {self.eval_type} passed over, the last of them {last}: a run that was"
            " stopped or limited does not replace a whole one"
        )


def latest(folder: str, eval_type: str) -> LatestResult | None:
    """Return the newest whole results of a type by ``meta.timestamp`` (not by the file's time).

    If timestamps are equal, the later run id wins. Results of a part of the cases, or of a stopped
    run, are returned only where there are no whole ones. Results of a stand-in are returned only
    where there are no others, since they say nothing about a skill. None if there are none. Raises
    as the functions above.
    """
    parts: dict[tuple[str, str], str] = {}
    best: LatestResult | None = None
    best_rank: tuple[bool, bool, tuple[str, str]] | None = None
    for path in results_in(folder)[eval_type]:
        envelope = read_results(path)
        meta = envelope["meta"]
        is_real, is_whole = meta.get("backend") != "fake", not part_of_run(meta)
        age = (str(meta.get("timestamp", "")), str(meta.get("run_id", "")))
        if is_real and not is_whole:
            parts[age] = path
        rank = (is_real, is_whole, age)
        if best_rank is None or rank > best_rank:
            best, best_rank = LatestResult(eval_type, path, envelope), rank
    if best is None or best_rank is None or best_rank[:2] != (True, True):
        return best
    newer = tuple(parts[age] for age in sorted(parts) if age > best_rank[2])
    return best._replace(passed_over=newer)


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
    if value["meta"].get("eval_type") not in tuple(LAYERS):  # it may be unhashable
        raise ValueError(f"`meta.eval_type` is none of {', '.join(LAYERS)}")
    if not all(isinstance(case, dict) for case in value["cases"]):
        raise ValueError("a case is not a JSON object")
    if not all(isinstance(entity, dict) for entity in value["summary"].values()):
        raise ValueError("an entry of the summary is not a JSON object")
    return value
