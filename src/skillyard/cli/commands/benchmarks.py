"""``bench``: measuring a ranking against judged queries."""

from __future__ import annotations

from argparse import Namespace
from os.path import isdir
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural
from skillyard.cli.blocks import Block, Column, Span, Table, line, numbers, table
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import STOPPED
from skillyard.cli.options import value, values, view_of
from skillyard.cli.source import load, refuse_library
from skillyard.engine.ranking.registry import default_scorer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.base.shapes.benchmarks import BenchRun, BenchScore
    from skillyard.engine.bench.measures import BenchCompare
    from skillyard.engine.catalog import Catalog

_JUDGED = values("--queries", "FILE", "judged queries", required=True)
_MEASURE = values("--measure", "NAME", "as nDCG@10, P@1, R@10 or MRR@10", dest="names")


def _skills(args: Namespace, console: Console) -> Catalog | str:
    """Return the catalog to rank, or the path of a file with skills."""
    if args.skills is None:
        return load(args, console)
    refuse_library(args, "with --skills")
    if not isdir(args.skills):
        return str(args.skills)
    from skillyard.install.policy.library import load_catalog

    catalog = load_catalog(args.skills)
    if not len(catalog):
        path = args.skills
        raise InvalidInput(f"no skills below {path}: `skillyard list {path}` shows what it reads")
    return catalog


def _run_notes(result: BenchRun, _: Namespace) -> Iterator[str]:
    if not result.complete:
        yield "interrupted: that file holds only the queries that were done"


@view_of(
    "skillyard.engine.bench.runs:bench_run",
    "bench run",
    value("--skills", "PATH", "a folder, or one JSON skill a line, .gz or not (default: --root)"),
    value("--queries", "FILE", "one JSON query a line", required=True),
    "--scorer",
    value("--out", "FILE", "the run file to write", required=True),
    provide={"skills": _skills, "scorer": lambda args, _: args.scorer or default_scorer()},
    what="ranking",
    code=lambda result, args: 0 if result.complete else STOPPED,
    notes=_run_notes,
)
def _ran(result: BenchRun) -> Iterator[Block]:
    """Rank skills for the queries of a file.

    Ignores every selection policy. Writes up to 50 skills with a score above zero for each query. A
    query is {"id", "query", "files"?, "relevant"?: {skill id: grade}, "kind"?}; "request" may stand
    for "query", and "expect": [skill id, ...] for "relevant". Without --scorer the scorer that
    skillyard.toml names ranks, else hybrid; the answer names it.

        skillyard bench run --skills s.jsonl.gz --queries q.jsonl --out run.json
        skillyard bench run --skills skills --queries requests.jsonl --out run.json
    """
    answered = f"{result.answered:,} of {result.queries:,} queries answered"
    counts = f"{plural(result.skills, 'skill')}, {answered}"
    yield line(Span(result.out, "name"), f"  {counts}; by {result.scorer}")


@view_of(
    "skillyard.engine.bench.measures:bench_score",
    "bench score",
    value("--run", "FILE", "a run file", required=True),
    _JUDGED,
    _MEASURE,
)
def score_blocks(result: BenchScore) -> Iterator[Block]:
    """Measure a run against judged queries.

    Prints means over all queries with 95 % intervals, and by kind.

        skillyard bench score --run run.json --queries q.jsonl
        skillyard bench score --run run.json --queries q.jsonl --measure P@3
    """
    names = [name for name in result.all if name != "unanswerable"]
    ends = {name: _ends(*result.intervals[name]) for name in names if name in result.intervals}
    rows = [
        ("all", {name: _measure(value) for name, value in result.all.items()}),
        ("  95 % low", {name: ends[name][0] if name in ends else "" for name in names}),
        ("  95 % high", {name: ends[name][1] if name in ends else "" for name in names}),
        *(
            (kind, {name: _measure(value) for name, value in of_kind.items()})
            for kind, of_kind in result.by_kind.items()
        ),
    ]
    columns = (
        Column("queries of kind", style="name"),
        *(Column(name, right=True) for name in names),
    )
    yield Table(columns, [[kind, *(row.get(name, "-") for name in names)] for kind, row in rows])


def _measure(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _ends(low: float, high: float, form: str = ".4f") -> tuple[str, str]:
    """Return the ends of an interval; dashes for one of width 0, which does not mean certainty."""
    return (f"{low:{form}}", f"{high:{form}}") if low < high else ("–", "–")


@view_of(
    "skillyard.engine.bench.measures:bench_compare",
    "bench compare",
    value("first", "FIRST", "a run file"),
    value("second", "SECOND", "a run file"),
    _JUDGED,
    _MEASURE,
    value("--tolerance", "X", "largest acceptable drop of a mean in any case", default=1.0),
    value("--margin", "X", "difference of a mean that does not matter", default=0.02),
    code=lambda result, args: result.regressed,
    notes=lambda result, args: result.warnings,
)
def compare_blocks(result: BenchCompare) -> Iterator[Block]:
    """Compare two runs.

    Prints the paired difference over queries, its 95 % bootstrap interval, the p-value of a
    sign-flip test, and a verdict. better, worse: p is at most 0.05 after the correction for the
    number of measures. no difference shown: the interval lies within the margin. cannot tell:
    neither. The exit code is 1 when the second run is worse; a comparison that cannot tell prints a
    warning.

        skillyard bench compare before.json after.json --queries q.jsonl
    """
    yield table(
        result.measures,
        Column("measure", lambda one: one.measure, "name"),
        *numbers("first", "second"),
        Column("difference", lambda one: f"{one.difference:+.4f}", right=True),
        Column("95% low", lambda one: _ends(one.low, one.high, "+.4f")[0], right=True),
        Column("95% high", lambda one: _ends(one.low, one.high, "+.4f")[1], right=True),
        Column("p", lambda one: f"{one.p_adjusted:.3f}", right=True),
        *numbers("better", "worse"),
        Column("verdict", lambda one: one.verdict, wide=True),
    )
    yield line(f"{result.second}, compared with {result.first}: {result.verdict}")
