"""Reads skills, judged queries and runs, and makes a run: the rankings of one scorer.

A run is ``{query_id: {"results": [[skill_id, score], …], "confidence": c}}``, best first. Grades 3
and 2 are relevant, 1 is related. For a query without grades no skill fits.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import inf
from typing import Any, NamedTuple, TypeVar

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.io.files import write_output
from skillyard.base.shapes.benchmarks import BenchRun
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.match import in_order, score_query
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER, resolve
from skillyard.engine.skill import Skill

DEPTH = 50
"""Number of results of a query that a run holds."""
RIGHT = 2
"""The least grade that counts as a right answer."""
EXPECTED = 3
"""The grade of a skill that ``expect`` lists."""


class BenchQuery(NamedTuple):
    """One query with its judgements."""

    id: str
    query: Query
    relevant: Mapping[str, int]
    """Skill id to grade."""
    kind: str = ""

    @property
    def answerable(self) -> bool:
        """True when some skill is a right answer."""
        return any(grade >= RIGHT for grade in self.relevant.values())


class RankedAnswer(NamedTuple):
    """The answer to one query: distinct skill ids, best first, and how sure the run was."""

    ids: tuple[str, ...] = ()
    confidence: float = -inf
    """Higher is surer that some skill fits; minus infinity when nothing was returned."""


Record = TypeVar("Record", Skill, BenchQuery)


def read_skills(path: str) -> list[Skill]:
    """Read one JSON skill a line (``{id, name, description, tags?, text}``), ``.gz`` as such.

    ``id`` becomes id, slug and path; tags are a list or text with commas. Raises SkillIoError for
    an unreadable file; InvalidInput for a file without a skill and, with the line number, for a
    bad line or an id that occurs twice.
    """
    return _read_records(path, "skill", _skill)


def read_queries(path: str) -> list[BenchQuery]:
    """Read one JSON query a line (``{id, query, files?, relevant?, kind?}``). Raises as above.

    ``relevant`` maps skill ids to grades. ``request`` is understood for ``query``, and ``expect``,
    a list of skill ids that are right, for ``relevant``: the fields of ``examples/requests.jsonl``.
    """
    return _read_records(path, "query", _query)


def read_run(path: str) -> dict[str, RankedAnswer]:
    """Read a run file. Raises SkillIoError, and InvalidInput."""
    try:
        run = _object(_content(path))
        return {key: _ranked_answer(entry) for key, entry in run.items()}
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def _read_records(path: str, what: str, read: Callable[[dict[str, Any]], Record]) -> list[Record]:
    """Return what the lines of a file hold, at least one, each with an id of its own."""
    records: dict[str, Record] = {}
    for number, line in enumerate(_content(path).splitlines(), 1):
        if line.strip():
            try:
                record = read(_object(line))
                if record.id in records:
                    raise InvalidInput(f"the id {record.id!r} occurs twice")
            except InvalidInput as error:
                raise InvalidInput(f"{path}:{number}: {error}") from None
            records[record.id] = record
    if not records:
        raise InvalidInput(f"{path}: it holds no {what}; write one JSON object a line")
    return list(records.values())


def _content(path: str) -> bytes:
    try:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
            return file.read()
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SkillIoError(f"cannot read: {reason}", path=path, hint="check the path") from None


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except UnicodeDecodeError:
        raise InvalidInput("not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON ({getattr(error, 'msg', error)})") from None
    if not isinstance(value, dict):
        raise InvalidInput("not a JSON object")
    return value


def _skill(record: dict[str, Any]) -> Skill:
    fields = ("id", "name", "description", "text")
    key, name, description, body = (_text(record, field) for field in fields)
    tags = record.get("tags") or ()
    if isinstance(tags, str):
        tags = tuple(tag for item in tags.split(",") if (tag := item.strip()))
    return Skill(
        name=name, description=description, body=body, path=key, id=key, slug=key, tags=tags
    )


def _query(record: dict[str, Any]) -> BenchQuery:
    for field, synonym in (("query", "request"), ("relevant", "expect")):
        if field in record and synonym in record:
            raise InvalidInput(f"{field} and {synonym} say the same; leave one out")
    relevant = record.get("relevant") or {}
    if "expect" in record:
        expected = record["expect"]
        if not isinstance(expected, list) or not all(isinstance(key, str) for key in expected):
            raise InvalidInput("expect must be a list of skill ids, empty where none fits")
        relevant = dict.fromkeys(expected, EXPECTED)
    if not isinstance(relevant, dict) or not all(type(grade) is int for grade in relevant.values()):
        raise InvalidInput("relevant must map skill ids to whole grades")
    text = _text(record, "request" if "request" in record else "query")
    query = Query(text, record.get("files") or ())
    return BenchQuery(_text(record, "id"), query, relevant, str(record.get("kind") or ""))


def _text(record: dict[str, Any], field: str) -> str:
    value = record.get(field)
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be text")
    return value


def _ranked_answer(entry: Any) -> RankedAnswer:
    """Return an answer; without a confidence, the first score is taken for it."""
    try:
        pairs = [(str(key), float(score)) for key, score in entry["results"]]
        sure = float(entry.get("confidence", pairs[0][1] if pairs else -inf))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InvalidInput("results must be pairs of skill id and score") from None
    ids = tuple(dict.fromkeys(key for key, _ in pairs))[:DEPTH]
    return RankedAnswer(ids, sure if ids else -inf)


def bench_run(
    skills: str | Catalog,
    queries: str,
    out: str,
    *,
    scorer: str = DEFAULT_SCORER,
    progress: Callable[[int, int], None] | None = None,
) -> BenchRun:
    """Rank skills for the queries of a JSONL file and write the run; no policy and no floor.

    ``skills`` is a catalog, or a JSONL file with one skill a line. A query has up to :data:`DEPTH`
    skills with a score above zero; ``confidence`` is the first one's score, 0 without any. ``out``
    is written atomically. After an interrupt the finished part is written to ``out`` with the
    suffix ``.partial``. Raises SkillIoError, UnknownName, and InvalidInput with the line.
    """
    name = resolve(scorer).name
    catalog = skills if isinstance(skills, Catalog) else Catalog.from_skills(read_skills(skills))
    judged, run = read_queries(queries), {}
    with suppress(KeyboardInterrupt):
        for number, bench_query in enumerate(judged, 1):
            _, scored = score_query(catalog, bench_query.query, scorer)
            pairs = in_order([pair for pair in scored.scores() if pair[1] > 0], scored, DEPTH)
            results = [[skill.slug, score] for skill, score in pairs]
            sure = results[0][1] if results else 0.0
            run[bench_query.id] = {"results": results, "confidence": sure}
            if progress is not None:
                progress(number, len(judged))
    complete = len(run) == len(judged)
    path = out if complete else f"{out}.partial"
    try:
        write_output(path, json.dumps(run, separators=(",", ":")).encode() + b"\n")
    except OSError as error:
        hint = "check the folder"
        raise SkillIoError(f"cannot write: {error.strerror}", path=path, hint=hint) from None
    return BenchRun(
        scorer=name,
        skills=catalog.counts.skills,
        queries=len(run),
        answered=sum(bool(entry["results"]) for entry in run.values()),
        out=path,
        complete=complete,
    )
