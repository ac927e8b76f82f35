"""Retrieval evaluation: queries with graded skills, runs of a scorer over them, and measures.

A run is ``{query_id: {"results": [[skill_id, score], …], "confidence": c}}``, best first. Grades 3
and 2 are relevant, 1 is related. For a query without grades no skill fits.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import inf, log2
from typing import IO, Any, NamedTuple, TypeVar, cast

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.io.atomic_write import write_output
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.match import in_order, score_query
from skillyard.engine.ranking.query import Query
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
Run = dict[str, dict[str, Any]]


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


Record = TypeVar("Record", Skill, BenchQuery)


def _read_records(
    path: str, what: str, read: Callable[[dict[str, Any], str], Record]
) -> list[Record]:
    """Return what the lines of a file hold, at least one, each with an id of its own."""
    records: dict[str, Record] = {}
    for where, fields in _records(path):
        record = read(fields, where)
        if record.id in records:
            raise InvalidInput(f"{where}: the id {record.id!r} occurs twice")
        records[record.id] = record
    if not records:
        raise InvalidInput(f"{path}: it holds no {what}; write one JSON object a line")
    return list(records.values())


def _records(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (``path:line``, object) for every line that is not blank."""
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{where}: not JSON ({getattr(error, 'msg', error)})") from None
        if not isinstance(record, dict):
            raise InvalidInput(f"{where}: not a JSON object")
        yield where, record


_MAX_LINE_BYTES = 1 << 28


def _lines(path: str) -> Iterator[str]:
    from zlib import error as zlib_error

    try:
        with _open(path) as file:
            for number, line in enumerate(iter(partial(file.readline, _MAX_LINE_BYTES), b""), 1):
                if len(line) == _MAX_LINE_BYTES:
                    raise InvalidInput(f"{path}:{number}: a line of {len(line):,} bytes or more")
                try:
                    yield line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    raise InvalidInput(f"{path}:{number}: not UTF-8") from None
    except (OSError, EOFError, zlib_error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SkillIoError(f"cannot read: {reason}", path=path, hint="check the path") from None


def _open(path: str) -> IO[bytes]:
    if path.endswith(".gz"):
        import gzip

        return cast(IO[bytes], gzip.open(path, "rb"))
    return open(path, "rb")


def _skill(record: dict[str, Any], where: str) -> Skill:
    texts = {field: _text(record, field, where) for field in ("id", "name", "description", "text")}
    key = texts["id"]
    try:
        return Skill(
            name=texts["name"],
            description=texts["description"],
            body=texts["text"],
            path=key,
            id=key,
            slug=key,
            tags=_tags(record.get("tags")),
        )
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None


def _tags(value: Any) -> Any:
    """Return a list as it is and text as its comma-separated items; a Skill judges the rest."""
    if isinstance(value, str):
        return tuple(tag for item in value.split(",") if (tag := item.strip()))
    return value or ()


def _query(record: dict[str, Any], where: str) -> BenchQuery:
    query_field = _one_of(record, "query", "request", where)
    grades_field = _one_of(record, "relevant", "expect", where)
    relevant = (
        _expected(record, where) if grades_field == "expect" else record.get(grades_field) or {}
    )
    if not isinstance(relevant, dict) or not all(type(grade) is int for grade in relevant.values()):
        raise InvalidInput(f"{where}: relevant must map skill ids to whole grades")
    try:
        query = Query(_text(record, query_field, where), record.get("files") or ())
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None
    return BenchQuery(_text(record, "id", where), query, relevant, str(record.get("kind") or ""))


def _one_of(record: dict[str, Any], field: str, synonym: str, where: str) -> str:
    """Return which of two names of a field the record uses. Raises InvalidInput for both."""
    if synonym not in record:
        return field
    if field in record:
        raise InvalidInput(f"{where}: {field} and {synonym} say the same; leave one out")
    return synonym


def _expected(record: dict[str, Any], where: str) -> dict[str, int]:
    expected = record["expect"]
    if not isinstance(expected, list) or not all(isinstance(key, str) for key in expected):
        raise InvalidInput(f"{where}: expect must be a list of skill ids, empty where none fits")
    return dict.fromkeys(expected, EXPECTED)


def _text(record: dict[str, Any], field: str, where: str) -> str:
    value = record.get(field)
    if not isinstance(value, str):
        raise InvalidInput(f"{where}: {field} must be text")
    return value


def run_queries(
    skills: Iterable[Skill],
    queries: Sequence[BenchQuery],
    scorer: str,
    *,
    into: Run | None = None,
    progress: Progress | None = None,
) -> Run:
    """Rank the skills for every query and return the run; no policy and no floor applies.

    Up to :data:`DEPTH` skills with a score above zero; ``confidence`` is the first one's score, 0
    without any. ``into`` is filled as it goes, so that an interrupted caller has what was done.
    """
    catalog = skills if isinstance(skills, Catalog) else Catalog.from_skills(skills)
    run: Run = {} if into is None else into
    for number, bench_query in enumerate(queries):
        if progress is not None:
            progress(number, len(queries))
        _, scored = score_query(catalog, bench_query.query, scorer)
        pairs = in_order([pair for pair in scored.scores() if pair[1] > 0], scored, DEPTH)
        results = [[skill.slug, score] for skill, score in pairs]
        run[bench_query.id] = {"results": results, "confidence": results[0][1] if results else 0.0}
    if progress is not None:
        progress(len(queries), len(queries))
    return run


def write_json(path: str, value: Any) -> None:
    """Write a JSON file; see :func:`write_text`."""
    write_text(path, json.dumps(value, separators=(",", ":")) + "\n")


def write_text(path: str, text: str) -> None:
    """Write a file whole or not at all: beside it, synced, then renamed over it.

    A link, a pipe or a device is written through, never replaced. Raises SkillIoError; what stood
    at ``path`` is untouched then.
    """
    try:
        write_output(path, text.encode("utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise SkillIoError(f"cannot write: {reason}", path=path, hint="check the folder") from None


class RankedAnswer(NamedTuple):
    """The answer to one query: distinct skill ids, best first, and how sure the run was."""

    ids: tuple[str, ...]
    confidence: float
    """Higher is surer that some skill fits; minus infinity when nothing was returned."""


def read_run(path: str) -> dict[str, RankedAnswer]:
    """Read a run file. Raises SkillIoError, and InvalidInput."""
    try:
        value = json.loads("".join(_lines(path)))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{path}: not JSON") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"{path}: a run maps query ids to results")
    return {key: _ranked_answer(entry, f"{path}: {key}") for key, entry in value.items()}


def _ranked_answer(entry: Any, where: str) -> RankedAnswer:
    confidence = entry.get("confidence") if isinstance(entry, dict) else None
    results: Any = entry.get("results") if isinstance(entry, dict) else entry
    try:
        pairs = [(str(key), float(score)) for key, score in results]
        sure = float(confidence if confidence is not None else pairs[0][1] if pairs else -inf)
    except (TypeError, ValueError):
        raise InvalidInput(f"{where}: results must be pairs of skill id and score") from None
    ids = tuple(dict.fromkeys(key for key, _ in pairs))[:DEPTH]
    return RankedAnswer(ids, sure if ids else -inf)


def measures(queries: Sequence[BenchQuery], run: Mapping[str, RankedAnswer]) -> dict[str, float]:
    """Return the means over the answerable queries, and how well confidence separates the others.

    hit@1, mrr@10, ndcg@10 (gain ``2**grade - 1``), recall@10 and recall@50 (of the relevant skills,
    at most as many as fit); auroc, best_f1 (of "no skill fits") and false_fire@95: the share of
    unanswerable queries that pass the confidence which keeps 95 % of the answerable ones.
    """
    nothing = RankedAnswer((), -inf)
    answered = [(query, run.get(query.id, nothing).confidence) for query in queries]
    sure = sorted(confidence for query, confidence in answered if query.answerable)
    unsure = sorted(confidence for query, confidence in answered if not query.relevant)
    results: dict[str, float] = {"queries": len(sure), "unanswerable": len(unsure)}
    if sure:
        for name in _REPORTED:
            results[name] = sum(per_query(queries, run, name).values()) / len(sure)
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
    kind, depth = match[1].lower(), int(match[2])
    kind = _SAME.get(kind, kind)
    nothing = RankedAnswer((), -inf)
    return {
        query.id: _value(kind, depth, run.get(query.id, nothing).ids, query.relevant)
        for query in queries
        if query.answerable
    }


def _value(kind: str, depth: int, ids: Sequence[str], relevant: Mapping[str, int]) -> float:
    grades = [relevant.get(key, 0) for key in ids[:depth]]
    hits = [grade >= RIGHT for grade in grades]
    if kind == "ndcg":
        ideal = sorted(relevant.values(), reverse=True)[:depth]
        return _gain(grades) / _gain(ideal)
    if kind == "p":
        return sum(hits) / depth
    if kind == "recall":
        right = sum(grade >= RIGHT for grade in relevant.values())
        return sum(hits) / min(right, depth)
    first = next((place for place, hit in enumerate(hits, 1) if hit), 0)
    if kind == "mrr":
        return 1 / first if first else 0.0
    return float(first > 0)


def _gain(grades: Sequence[int]) -> float:
    """Return the discounted cumulative gain."""
    total = 0.0
    for place, grade in enumerate(grades, 1):
        total += (2**grade - 1) / log2(place + 1)
    return total


def _abstention(sure: Sequence[float], unsure: Sequence[float]) -> dict[str, float]:
    """Compare confidences, both sorted ascending, of answerable and unanswerable queries."""
    wins = sum(
        bisect_left(unsure, value) + (unsure.count(value) / 2 if value in unsure else 0.0)
        for value in sure
    )
    best = 0.0
    for threshold in [*sorted({*sure, *unsure}), inf]:
        caught = bisect_left(unsure, threshold)
        wrong = bisect_left(sure, threshold)
        if caught:
            best = max(best, 2 * caught / (caught + wrong + len(unsure)))
    least = sure[int((1 - ANSWERED_SHARE) * len(sure))]
    fired = len(unsure) - bisect_left(unsure, least)
    return {
        "auroc": wins / (len(sure) * len(unsure)),
        "best_f1": best,
        "false_fire@95": fired / len(unsure),
    }
