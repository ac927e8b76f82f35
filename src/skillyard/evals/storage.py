"""The results folder of runs: generations, judgements, events and results.

::

    results/
      generations/<skill>/<key>.json   one answer of a model
      judgements/<skill>/<key>.json    one comparison of two answers, in one order
      events.jsonl                     events, appended as they happen
      <type>_<run_id>.json             the results of one run

A copy of this folder replays to the same results on another machine. The name of an entry is its
key, a digest of everything that can change the answer.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import IO, Annotated, Any, NamedTuple, NotRequired

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from skillyard.base.errors import InvalidInput, io_errors
from skillyard.base.io.files import append, atomic_write, open_to_append, read_regular, sha256
from skillyard.base.io.locks import Closeable, file_lock
from skillyard.base.text import plural
from skillyard.evals.layers.registry import LAYERS

GENERATIONS = "generations"
JUDGEMENTS = "judgements"
SHARED = "_without_skill"
"""The folder of answers that no skill had a part in."""
EVENTS = "events.jsonl"
START = "start"
"""The first event of a run, which holds its settings."""
SCHEMA = "skillyard.eval/1"
DEGRADED = 0.1
"""A run with a larger share of errors is marked as degraded (evals.md §1.14)."""
TRUNCATED_PAIR = "truncated"
"""Why a pair was not judged of which an answer reached the limit of output tokens."""
ENTRY_BYTES = 16_777_216
"""Largest entry, and longest event, that is read. Answers of 64,000 tokens have 400,000 bytes."""
RESULT_BYTES = 268_435_456
"""Largest results file that is read: 100,000 cases of 2.5 KB."""
_LOCKS = ".locks"
"""The folder of 256 files, each the lock of the keys that end in its two digits, and the lock of
the budgets."""
_SAFE = re.compile(r"[^a-z0-9._-]+")

_Tokens = Annotated[int | None, Field(ge=0, le=1_000_000_000)]
_Dollars = Annotated[float, Field(ge=0, le=1_000_000_000)]


class EntryUsage(TypedDict):
    """Tokens by the provider's count; None where it gave none."""

    input_tokens: _Tokens
    output_tokens: _Tokens


class Entry(TypedDict):
    """What a run reads in an entry; it is written with more, which says how it came about."""

    key: str
    cost: _Dollars
    usage: EntryUsage
    fake: bool
    text: NotRequired[str]
    """Of a generation."""
    stop_reason: NotRequired[str]
    parsed: NotRequired[dict[str, Any] | None]
    """Of a judgement."""
    raw_judge_text: NotRequired[str]
    attempts: NotRequired[Annotated[int, Field(ge=0, le=1_000)]]
    judge_error: NotRequired[str | None]


class _Envelope(TypedDict):
    meta: dict[str, Any]
    summary: dict[str, dict[str, Any]]
    cases: list[dict[str, Any]]
    artifacts: dict[str, Any]


_ENTRY, _ENVELOPE = TypeAdapter(Entry), TypeAdapter(_Envelope)
_REQUIRED: Mapping[str, set[str]] = {
    GENERATIONS: {"text", "stop_reason"},
    JUDGEMENTS: {"parsed", "raw_judge_text"},
}


class Entries:
    """The entries of one results folder. Safe for many threads and many processes.

    An entry that cannot be read counts as missing and is reported through ``warn`` with its path;
    the next answer replaces it.
    """

    def __init__(self, results: str, warn: Callable[[str], None] = lambda text: None) -> None:
        self._results = results
        self._warn = warn
        self._reported: set[str] = set()

    def path(self, kind: str, skill: str, key: str) -> str:
        """Return an entry's path below the results folder, with forward slashes.

        A skill's name is converted to a folder name that is safe on every system. Two names may
        share a folder; their entries differ by key.
        """
        folder = _SAFE.sub("-", skill.lower()).strip(".-") or "unnamed"
        return f"{kind}/{folder[:100]}/{key}.json"

    def read(self, path: str) -> Entry | None:
        """Return the entry at a path, which may come from a results file; None without a good one.

        The path is that of :meth:`path`; any other has no entry.
        """
        kind, *parts = path.split("/")
        if kind not in _REQUIRED or len(parts) != 2 or _SAFE.search("".join(parts)):
            return None
        try:
            data, _ = read_regular(self._full(path), ENTRY_BYTES, follow=True)
            entry = _ENTRY.validate_json(data, strict=True)
            if f"{entry['key']}.json" == parts[1] and _REQUIRED[kind] <= entry.keys():
                return entry
            why = "it is the entry of another key"
        except FileNotFoundError:
            return None
        except OSError as error:
            why = error.strerror or "unreadable"
        except ValidationError as error:
            why = _fault(error)
        self.refuse(path, why)
        return None

    def refuse(self, path: str, why: str) -> None:
        """Report once that an entry cannot be used."""
        if path not in self._reported:
            self._reported.add(path)
            self._warn(f"{path}: cannot be used ({why}), so it counts as missing")

    def write(self, path: str, entry: Mapping[str, Any]) -> None:
        """Write an entry atomically. Raises SkillIoError."""
        text = json.dumps(entry, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        # Half of a surrogate pair is no character, and no reader of JSON need take it.
        write_file(self._full(path), text.encode("utf-8", "replace"), "entry")

    def lock(self, path: str) -> AbstractContextManager[object]:
        """Return the lock of an entry, held, between threads and between processes.

        After waiting for the lock, the caller should read again, because the other holder may have
        stored the answer. The lock ends with the process that holds it. Raises SkillIoError.
        """
        return _lock_between_processes(self._results, f"{path[-7:-5]}.lock")

    def _full(self, path: str) -> str:
        return os.path.join(self._results, *path.split("/"))


_errors_of = partial(
    io_errors, hint="check the path, or name another (--output-dir, --results-dir, --out)"
)


def _fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"


def _lock_between_processes(results: str, name: str) -> AbstractContextManager[object]:
    """Return a lock of a results folder, held. Raises SkillIoError."""
    path = os.path.join(results, _LOCKS, name)
    with _errors_of("lock the results", path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return file_lock(path, timeout_s=None, mode=None)


def write_file(
    path: str, data: bytes, what: str, write: Callable[[str, bytes], None] = atomic_write
) -> None:
    """Write a file, and the folders above it. Raises SkillIoError, which calls it ``what``."""
    with _errors_of(f"write the {what}", path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write(path, data)


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a value's one JSON text, in hexadecimal: sorted keys, no blanks."""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hex()


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8, in hexadecimal."""
    return sha256(text.encode("utf-8", "surrogatepass")).hex()


class Events(Closeable):
    """The events of one run. Safe for many threads; many processes may share the file."""

    def __init__(self, results: str, run_id: str) -> None:
        """Open the file. Raises SkillIoError."""
        self._results = results
        self._path = os.path.join(results, EVENTS)
        self._run_id = run_id
        self._guard = threading.Lock()
        with _errors_of("write the events", self._path):
            os.makedirs(results, exist_ok=True)
            self._descriptor = open_to_append(self._path)
            self._file = open(self._path, "rb")  # noqa: SIM115 - close() closes it
            self._end_incomplete_line()

    def append(self, event: str, *, wait: bool = True, **fields: Any) -> None:
        """Append one event and wait until it, and all before it, is on disk.

        ``wait=False`` leaves that to the system: for what a later run finds out again for free.
        Raises SkillIoError.
        """
        record = {"event": event, "run_id": self._run_id, **fields}
        line = (json.dumps(record, separators=(",", ":")) + "\n").encode("ascii")
        with self._guard, _errors_of("write the events", self._path):
            append(self._descriptor, self._path, line)
            if wait:
                os.fsync(self._descriptor)

    def unread(self) -> Iterator[dict[str, Any]]:
        """Yield the events of the run, of every process, since the last call."""
        for record in _records(self._file, self._run_id):
            if record.get("run_id") == self._run_id:
                yield record

    def exclusive(self) -> AbstractContextManager[object]:
        """Return a lock that one process of all in the folder has. Raises SkillIoError."""
        return _lock_between_processes(self._results, "budget.lock")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        os.close(self._descriptor)

    def _end_incomplete_line(self) -> None:
        """Begin on a line of our own where a killed run left half of one."""
        if self._file.seek(0, os.SEEK_END):
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":
                append(self._descriptor, self._path, b"\n")
        self._file.seek(0)


def _records(file: IO[bytes], word: str) -> Iterator[dict[str, Any]]:
    """Yield the events that have a word in them, from here to the last whole line of a file.

    A line that a run left damaged when it was killed is left out.
    """
    needle = json.dumps(word).encode()
    while True:
        start = file.tell()
        line = file.readline(ENTRY_BYTES)
        if not line.endswith(b"\n") and len(line) < ENTRY_BYTES:
            file.seek(start)  # the end, or a line that is being written
            return
        if needle in line:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict) and isinstance(record.get("event"), str):
                yield record


def start_of_run(results: str, eval_type: str, run_id: str | None = None) -> dict[str, Any]:
    """Return the first event of a run: its ``settings``, and the ``dataset_sha256`` of its cases.

    Without ``run_id``, the run of the type that began last is meant. Raises InvalidInput when the
    results folder knows no such run, and SkillIoError.
    """
    path = os.path.join(results, EVENTS)
    records: list[dict[str, Any]] = []
    with (
        _errors_of("read the events", path),
        suppress(FileNotFoundError),
        open(path, "rb") as file,
    ):
        records = [each for each in _records(file, START) if each["event"] == START]
    starts = [each for each in records if isinstance(each.get("settings"), dict)]
    if run_id is None:
        of_type = [each for each in starts if each["settings"].get("eval_type") == eval_type]
        if of_type:
            return of_type[-1]
        raise InvalidInput(f"nothing to replay: no run of {eval_type} was begun in {results}")
    for each in starts:
        if each.get("run_id") == run_id:
            return each
    latest = f"the latest one is {starts[-1].get('run_id')}" if starts else "there is none"
    raise InvalidInput(f"no run {run_id!r} in {path}; {latest}")


def write_results(results: str, envelope: Mapping[str, Any]) -> str:
    """Write an envelope to ``<type>_<run_id>.json`` and return the path. Raises SkillIoError."""
    meta = envelope["meta"]
    path = os.path.join(results, f"{meta['eval_type']}_{meta['run_id']}.json")
    write_envelope(path, envelope, "results")
    return path


def write_envelope(path: str, envelope: Mapping[str, Any], what: str) -> None:
    """Write results to a file. Raises SkillIoError, which calls it ``what``.

    Half of a surrogate pair in a prompt is written as its escape.
    """
    text = json.dumps(envelope, indent=1, ensure_ascii=False) + "\n"
    write_file(path, text.encode("utf-8", "backslashreplace"), what)


def read_results(path: str) -> dict[str, Any]:
    """Return an envelope that may come from anywhere, with its four parts and a known type.

    Raises SkillIoError, and InvalidInput with the path and what is wrong.
    """
    with _errors_of("read the results", path):
        data, _ = read_regular(path, RESULT_BYTES, follow=True)
    try:
        envelope = json.loads(data)
        _ENVELOPE.validate_python(envelope, strict=True)
        if envelope["meta"].get("eval_type") not in tuple(LAYERS):  # it may be unhashable
            raise ValueError(f"`meta.eval_type` is none of {', '.join(LAYERS)}")
    except (ValueError, RecursionError) as error:
        why = _fault(error) if isinstance(error, ValidationError) else str(error)
        raise InvalidInput(
            f"{path}: not the results of an evaluation ({why}); "
            "a results file is written by `skillyard eval`"
        ) from None
    return dict(envelope)


class LatestResult(NamedTuple):
    """The results of one type that stand for it."""

    eval_type: str
    path: str
    envelope: dict[str, Any]
    note: str = ""
    """A sentence on newer results that are no whole run: stopped, or of a part of the cases."""


def latest_of_each(folder: str, eval_type: str | None = None) -> Iterator[LatestResult]:
    """Yield the latest results of each type, or of one type only.

    These are the newest whole ones by ``meta.timestamp`` (not by the file's time).

    If timestamps are equal, the later run id wins. Results of a part of the cases, or of a stopped
    run, are returned only where there are no whole ones. Results of a stand-in are returned only
    where there are no others, since they say nothing about a skill. Raises as the functions above.
    """
    with _errors_of("list the results", folder):
        names = os.listdir(folder) if os.path.lexists(folder) else []
    for each in LAYERS if eval_type is None else (eval_type,):
        ranked = []
        for name in names:
            if name.startswith(f"{each}_") and name.endswith(".json"):
                path = os.path.join(folder, name)
                meta = read_results(path)["meta"]
                age = (str(meta.get("timestamp", "")), str(meta.get("run_id", "")))
                ranked.append((meta.get("backend") != "fake", not part_of_run(meta), age, path))
        if not ranked:
            continue
        is_real, is_whole, age, path = max(ranked)
        newer, note = sum(other[0] and other[2] > age for other in ranked), ""
        if newer and is_real and is_whole:
            note = f"{plural(newer, 'newer result')} of {each} passed over: a run that was stopped"
            note += " or limited does not replace a whole one"
        yield LatestResult(each, path, read_results(path), note)


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
