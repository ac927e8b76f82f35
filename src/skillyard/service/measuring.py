"""Measuring: a run of one scorer over judged queries, and its scores."""

from __future__ import annotations

from typing import Any, NamedTuple

from skillyard.evals.retrieval import (
    Progress,
    Run,
    measures,
    read_queries,
    read_run,
    read_skills,
    run_queries,
    write_json,
)
from skillyard.ranking.registry import DEFAULT_SCORER, resolve

__all__ = ["BenchRun", "BenchScore", "bench_run", "bench_score"]


class BenchRun(NamedTuple):
    """What a run was made of, and where it went."""

    scorer: str
    skills: int
    queries: int
    answered: int
    """Queries with at least one skill."""
    out: str
    complete: bool = True
    """False when it was interrupted: then ``out`` holds the queries that were done."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.bench-run/1``."""
        return {"schema": "skillyard.bench-run/1", **self._asdict()}


def bench_run(
    skills: str,
    queries: str,
    out: str,
    *,
    scorer: str = DEFAULT_SCORER,
    progress: Progress | None = None,
) -> BenchRun:
    """Rank the skills of one JSONL file for the queries of another and write the run.

    ``out`` is written whole or not at all. An interrupt writes what is done to ``out`` with
    ``.partial`` behind it and returns. Raises SkillIoError, UnknownName, and InvalidInput with the
    line.
    """
    name = resolve(scorer).name
    listed, asked = read_skills(skills), read_queries(queries)
    run: Run = {}
    try:
        run_queries(listed, asked, scorer, into=run, progress=progress)
    except KeyboardInterrupt:
        out, complete = f"{out}.partial", False
    else:
        complete = True
    write_json(out, run)
    answered = sum(bool(entry["results"]) for entry in run.values())
    return BenchRun(name, len(listed), len(run), answered, out, complete)


class BenchScore(NamedTuple):
    """Measures of a run: over all queries, and by kind where the queries have kinds."""

    run: str
    all: dict[str, float]
    by_kind: dict[str, dict[str, float]]

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.bench-score/1``."""
        return {"schema": "skillyard.bench-score/1", **self._asdict()}


def bench_score(run: str, queries: list[str]) -> BenchScore:
    """Score a run file against judged queries; see :func:`skillyard.evals.retrieval.measures`.

    Raises SkillIoError, InvalidInput (for a query id in two files as well).
    """
    from skillyard.errors import InvalidInput

    asked = {}
    for path in queries:
        for query in read_queries(path):
            if query.id in asked:
                raise InvalidInput(f"{path}: the query id {query.id!r} was in an earlier file")
            asked[query.id] = query
    answers = read_run(run)
    kinds = sorted({query.kind for query in asked.values() if query.kind and query.answerable})
    by_kind = {
        kind: measures([query for query in asked.values() if query.kind == kind], answers)
        for kind in kinds
    }
    return BenchScore(run, measures(list(asked.values()), answers), by_kind)
