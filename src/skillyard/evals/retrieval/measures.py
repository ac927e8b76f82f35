"""Retrieval evaluation: queries with graded skills, runs of a scorer over them, and measures.

A run is ``{query_id: {"results": [[skill_id, score], …], "confidence": c}}``, best first. Grades 3
and 2 are relevant, 1 is related. For a query without grades no skill fits.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import inf, log2
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.io.atomic_write import write_output
from skillyard.base.shapes.benchmarks import BenchRun
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.match import in_order, score_query
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER, resolve
from skillyard.engine.skill import Skill

DEPTH = 50
"""Number of results that are kept for each query."""
RIGHT = 2
"""The least grade that counts as a right answer."""
EXPECTED = 3
"""The grade of a skill that ``expect`` lists."""
_REPORTED = ("hit@1", "mrr@10", "ndcg@10", "recall@10", "recall@50")
_NAME = re.compile(r"(ndcg|p|precision|r|recall|mrr|hit|success)@([1-9]\d{0,3})", re.IGNORECASE)
_SAME = {"precision": "p", "r": "recall", "success": "hit"}
ANSWERED_SHARE = 0.95
"""Share of the answerable queries that must stay above the confidence used for false fires."""

Progress = Callable[[int, int], None]


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

    ids: tuple[str, ...]
    confidence: float
    """Higher is surer that some skill fits; minus infinity when nothing was returned."""


_NO_ANSWER = RankedAnswer((), -inf)
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
    key, name, description, body = (
        _text(record, field) for field in ("id", "name", "description", "text")
    )
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
    confidence = entry.get("confidence") if isinstance(entry, dict) else None
    results: Any = entry.get("results") if isinstance(entry, dict) else entry
    try:
        pairs = [(str(key), float(score)) for key, score in results]
        sure = float(confidence if confidence is not None else pairs[0][1] if pairs else -inf)
    except (TypeError, ValueError):
        raise InvalidInput("results must be pairs of skill id and score") from None
    ids = tuple(dict.fromkeys(key for key, _ in pairs))[:DEPTH]
    return RankedAnswer(ids, sure if ids else -inf)


def bench_run(
    skills: str | Catalog,
    queries: str,
    out: str,
    *,
    scorer: str = DEFAULT_SCORER,
    progress: Progress | None = None,
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


def measures(queries: Sequence[BenchQuery], run: Mapping[str, RankedAnswer]) -> dict[str, float]:
    """Return the means over the answerable queries, and how well confidence separates the others.

    hit@1, mrr@10, ndcg@10 (gain ``2**grade - 1``), recall@10 and recall@50 (of the relevant skills,
    at most as many as fit); auroc, best_f1 (of "no skill fits") and false_fire@95: the share of
    unanswerable queries that pass the confidence which keeps 95 % of the answerable ones.
    """
    answered = [(query, run.get(query.id, _NO_ANSWER).confidence) for query in queries]
    sure = sorted(confidence for query, confidence in answered if query.answerable)
    unsure = sorted(confidence for query, confidence in answered if not query.relevant)
    results: dict[str, float] = {"queries": len(sure), "unanswerable": len(unsure)}
    if sure:
        results |= {name: fmean(per_query(queries, run, name).values()) for name in _REPORTED}
    if sure and unsure:
        results |= _abstention(sure, unsure)
    return results


def per_query(
    queries: Sequence[BenchQuery], run: Mapping[str, RankedAnswer], measure: str
) -> dict[str, float]:
    """Return the value of one measure by query id, answerable queries only.

    Measures by name, case ignored: ``nDCG@k`` (gain ``2**grade - 1``), ``P@k``, ``R@k`` (of the
    right ones, at most as many as fit), ``MRR@k``, ``hit@k``. Raises InvalidInput for others.
    """
    match = _NAME.fullmatch(measure)
    if match is None:
        raise InvalidInput(
            f"unknown measure {measure!r}: write nDCG@10, P@1, R@10, MRR@10 or hit@1"
        )
    name, depth = match[1].lower(), int(match[2])
    return {
        query.id: _value(
            _SAME.get(name, name), depth, run.get(query.id, _NO_ANSWER).ids, query.relevant
        )
        for query in queries
        if query.answerable
    }


def _value(kind: str, depth: int, ids: Sequence[str], relevant: Mapping[str, int]) -> float:
    grades = [relevant.get(key, 0) for key in ids[:depth]]
    hits = [grade >= RIGHT for grade in grades]
    if kind == "ndcg":
        return _gain(grades) / _gain(sorted(relevant.values(), reverse=True)[:depth])
    if kind == "p":
        return sum(hits) / depth
    if kind == "recall":
        return sum(hits) / min(depth, sum(grade >= RIGHT for grade in relevant.values()))
    first = hits.index(True) + 1 if any(hits) else inf
    return 1 / first if kind == "mrr" else float(first < inf)


def _gain(grades: Sequence[int]) -> float:
    """Return the discounted cumulative gain."""
    total = 0.0
    for place, grade in enumerate(grades, 1):
        total += (2**grade - 1) / log2(place + 1)
    return total


def _abstention(sure: Sequence[float], unsure: Sequence[float]) -> dict[str, float]:
    """Compare confidences, both sorted ascending, of answerable and unanswerable queries."""
    wins = sum(bisect_left(unsure, value) + unsure.count(value) / 2 for value in sure)
    best = 0.0
    for threshold in [*sorted({*sure, *unsure}), inf]:
        caught, wrong = bisect_left(unsure, threshold), bisect_left(sure, threshold)
        best = max(best, 2 * caught / (caught + wrong + len(unsure)))
    least = sure[int((1 - ANSWERED_SHARE) * len(sure))]
    return {
        "auroc": wins / (len(sure) * len(unsure)),
        "best_f1": best,
        "false_fire@95": (len(unsure) - bisect_left(unsure, least)) / len(unsure),
    }
