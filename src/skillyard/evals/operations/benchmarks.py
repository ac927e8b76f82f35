"""Benchmarks of retrieval: run a scorer over judged queries, score and compare runs."""

from __future__ import annotations

import json
from statistics import fmean
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.io.atomic_write import write_output
from skillyard.base.shapes.benchmarks import BenchRun, BenchScore
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.registry import DEFAULT_SCORER, resolve
from skillyard.evals.retrieval.comparison import (
    BETTER,
    CANNOT_TELL,
    MARGIN,
    MEASURES,
    NO_DIFFERENCE,
    WORSE,
    MeasureComparison,
    compare,
    interval,
    queries_needed,
)
from skillyard.evals.retrieval.measures import (
    BenchQuery,
    Progress,
    Run,
    measures,
    per_query,
    read_queries,
    read_run,
    read_skills,
    run_queries,
)


def bench_run(
    skills: str | Catalog,
    queries: str,
    out: str,
    *,
    scorer: str = DEFAULT_SCORER,
    progress: Progress | None = None,
) -> BenchRun:
    """Rank skills for the queries of a JSONL file and write the run.

    ``skills`` is a catalog, or a JSONL file with one skill a line.

    ``out`` is written atomically. After an interrupt the finished part is written to ``out`` with
    the suffix ``.partial``. Raises SkillIoError, UnknownName, and InvalidInput with the line.
    """
    name = resolve(scorer).name
    listed = skills if isinstance(skills, Catalog) else read_skills(skills)
    judged = read_queries(queries)
    run: Run = {}
    try:
        run_queries(listed, judged, scorer, into=run, progress=progress)
    except KeyboardInterrupt:
        out, complete = f"{out}.partial", False
    else:
        complete = True
    try:
        write_output(out, json.dumps(run, separators=(",", ":")).encode() + b"\n")
    except OSError as error:
        raise SkillIoError(
            f"cannot write: {error.strerror}", path=out, hint="check the folder"
        ) from None
    answered = sum(bool(entry["results"]) for entry in run.values())
    count = listed.counts.skills if isinstance(listed, Catalog) else len(listed)
    return BenchRun(
        scorer=name,
        skills=count,
        queries=len(run),
        answered=answered,
        out=out,
        complete=complete,
    )


def bench_score(run: str, queries: list[str], *, names: tuple[str, ...] = ()) -> BenchScore:
    """Score a run file against judged queries; see :mod:`skillyard.evals.retrieval.measures`.

    ``names`` are additional measures (``nDCG@5``, ``P@3``, …). Raises SkillIoError, InvalidInput
    (also for a query id in two files).
    """
    judged, answers = _read_queries(queries), read_run(run)
    kinds = sorted({query.kind for query in judged if query.kind and query.answerable})

    def measured(these: list[BenchQuery]) -> dict[str, float]:
        values = {name.lower(): per_query(these, answers, name).values() for name in names}
        return measures(these, answers) | {name: fmean(of) for name, of in values.items() if of}

    intervals = {
        name.lower(): interval(values)
        for name in dict.fromkeys((*MEASURES, *names))
        if (values := list(per_query(judged, answers, name).values()))
    }
    by_kind = {kind: measured([query for query in judged if query.kind == kind]) for kind in kinds}
    return BenchScore(run=run, all=measured(judged), by_kind=by_kind, intervals=intervals)


def _read_queries(paths: list[str]) -> list[BenchQuery]:
    by_id: dict[str, BenchQuery] = {}
    for path in paths:
        for query in read_queries(path):
            if query.id in by_id:
                raise InvalidInput(f"{path}: the query id {query.id!r} was in an earlier file")
            by_id[query.id] = query
    return list(by_id.values())


class BenchCompare(NamedTuple):
    """The comparison of two runs over the same queries, by measure."""

    first: str
    second: str
    measures: tuple[MeasureComparison, ...]
    tolerance: float
    margin: float

    @property
    def regressed(self) -> bool:
        """True when the second run is significantly worse, or by more than the tolerance."""
        return any(
            one.regressed or one.difference < -self.tolerance - 1e-12 for one in self.measures
        )

    @property
    def verdict(self) -> str:
        """The verdict over all measures; ``worse`` also for a drop beyond the tolerance."""
        verdicts = {one.verdict for one in self.measures}
        if self.regressed:
            return WORSE
        return next(word for word in (BETTER, CANNOT_TELL, NO_DIFFERENCE) if word in verdicts)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why some measures have no verdict."""
        unclear = [one for one in self.measures if one.verdict == CANNOT_TELL]
        if not unclear:
            return ()
        queries = unclear[0].better + unclear[0].worse + unclear[0].same
        least = queries_needed(len(self.measures))
        names = ", ".join(one.measure for one in unclear)
        if queries < least:
            why = f"too few judged queries: {queries:,}, at least {least} are needed"
        else:
            why = f"with {queries:,} queries the interval reaches beyond ±{self.margin:g}"
        return (f"cannot tell whether {self.second} is worse in {names}: {why}",)

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.bench-compare/1``."""
        return {
            "schema": "skillyard.bench-compare/1",
            "first": self.first,
            "second": self.second,
            "tolerance": self.tolerance,
            "margin": self.margin,
            "regressed": self.regressed,
            "verdict": self.verdict,
            "warnings": list(self.warnings),
            "measures": [{**one._asdict(), "regressed": one.regressed} for one in self.measures],
        }


def bench_compare(
    first: str,
    second: str,
    queries: list[str],
    *,
    names: tuple[str, ...] = (),
    tolerance: float = 1.0,
    margin: float = MARGIN,
) -> BenchCompare:
    """Compare two runs, query by query.

    ``tolerance`` is the largest accepted drop of a mean, whatever the test says; ``margin`` the
    difference of a mean that does not matter. Raises SkillIoError, InvalidInput.
    """
    if not margin >= 0:
        raise InvalidInput(f"the margin must be 0 or more, not {margin}")
    judged = _read_queries(queries)
    before, after = read_run(first), read_run(second)
    comparisons = compare(judged, before, after, names or MEASURES, margin=margin)
    return BenchCompare(first, second, tuple(comparisons), tolerance, margin)
