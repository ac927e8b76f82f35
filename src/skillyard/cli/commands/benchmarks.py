"""``bench``: measuring a ranking against judged queries."""

from __future__ import annotations

from argparse import Namespace
from os.path import isdir
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural
from skillyard.cli.blocks import Block, Column, Span, Table, line, table
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import INTERRUPTED, NEGATIVE
from skillyard.cli.options import command, file_path, value, values
from skillyard.cli.source import load, refuse_library, scorer_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillyard.base.shapes.benchmarks import BenchRun, BenchScore
    from skillyard.engine.catalog import Catalog
    from skillyard.evals.operations.benchmarks import BenchCompare

_JUDGED = values("--queries", "FILE", "judged queries", required=True)
_MEASURE = values("--measure", "NAME", "a measure by name, as nDCG@10, P@1, R@10, MRR@10")


@command(
    "bench run",
    value(
        "--skills",
        "PLACE",
        "a folder of skills, or one JSON skill a line, .gz or not (default: the skills of --root)",
        type=file_path,
    ),
    value("--queries", "FILE", "one JSON query a line", required=True),
    "--scorer",
    value("--out", "FILE", "the run file to write", required=True),
)
def bench_run(args: Namespace, console: Console) -> int:
    """Rank skills for the queries of a file.

    Ignores every selection policy. Writes up to 50 skills with a score above zero for each query. A
    query is {"id", "query", "files"?, "relevant"?: {skill id: grade}, "kind"?}; "request" may stand
    for "query", and "expect": [skill id, ...] for "relevant". Without --scorer the scorer that
    skillyard.toml names ranks, else hybrid; the answer names it.

        skillyard bench run --skills s.jsonl.gz --queries q.jsonl --out run.json
        skillyard bench run --skills skills --queries requests.jsonl --out run.json
    """
    from skillyard.engine.ranking.registry import DEFAULT_SCORER
    from skillyard.evals.operations import benchmarks

    if args.skills is None:
        skills = load(args, console)
    else:
        refuse_library(args, "with --skills")
        skills = _catalog_at(args.skills) if isdir(args.skills) else args.skills
    with console.progress("ranking") as step:
        done = benchmarks.bench_run(
            skills,
            args.queries,
            args.out,
            scorer=scorer_of(args),
            progress=step,
        )
    if args.scorer is None and done.scorer != DEFAULT_SCORER:
        console.note(f"ranked by {done.scorer}, which skillyard.toml names")
    console.show(done, _ran)
    if not done.complete:
        console.note("interrupted: that file holds only the queries that were done")
        return INTERRUPTED
    return 0


def _catalog_at(path: str) -> Catalog:
    from skillyard.install.policy.library import load_catalog

    catalog = load_catalog(path)
    if not len(catalog):
        raise InvalidInput(f"no skills below {path}: `skillyard list {path}` shows what it reads")
    return catalog


def _ran(result: BenchRun) -> Iterator[Block]:
    answered = f"{result.answered:,} of {result.queries:,} queries answered"
    counts = f"{plural(result.skills, 'skill')}, {answered}"
    yield line(Span(result.out, "name"), f"  {counts}; by {result.scorer}")


@command(
    "bench score",
    value("--run", "FILE", "a run file", required=True),
    _JUDGED,
    _MEASURE,
)
def bench_score(args: Namespace, console: Console) -> None:
    """Measure a run against judged queries.

    Prints means over all queries with 95 % intervals, and by kind.

        skillyard bench score --run run.json --queries q.jsonl
        skillyard bench score --run run.json --queries q.jsonl --measure P@3
    """
    from skillyard.evals.operations import benchmarks

    result = benchmarks.bench_score(args.run, args.queries, names=tuple(args.measure))
    console.show(result, score_blocks)


def score_blocks(result: BenchScore) -> Iterator[Block]:
    """Yield the measures: a row for all queries, then one for each kind."""
    names = [name for name in result.all if name != "unanswerable"]
    ends = {name: _ends(*result.intervals.get(name, (0.0, 0.0))) for name in names}
    blank = {name: "" for name in names if name not in result.intervals}
    rows = [
        ("all", {name: _measure(value) for name, value in result.all.items()}),
        ("  95 % low", {name: low for name, (low, _) in ends.items()} | blank),
        ("  95 % high", {name: high for name, (_, high) in ends.items()} | blank),
    ]
    for kind, measures in result.by_kind.items():
        rows.append((kind, {name: _measure(value) for name, value in measures.items()}))
    columns = (Column("queries of kind", "name"), *(Column(name, right=True) for name in names))
    cells = [[kind, *(row.get(name, "-") for name in names)] for kind, row in rows]
    yield Table(columns, cells)
    yield from _equal_note(result.intervals.values())


def _measure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _ends(low: float, high: float, form: str = ".4f") -> tuple[str, str]:
    """Return the ends of an interval; dashes for one of width 0, which does not mean certainty."""
    return (f"{low:{form}}", f"{high:{form}}") if low < high else ("–", "–")


def _equal_note(intervals: Iterable[tuple[float, float]]) -> Iterator[Block]:
    if any(low == high for low, high in intervals):
        yield line("–: all queries are equal, so there is no interval; others may differ")


@command(
    "bench compare",
    value("first", "FIRST", "a run file"),
    value("second", "SECOND", "a run file"),
    _JUDGED,
    _MEASURE,
    value(
        "--tolerance", "X", "largest acceptable drop of a mean, whatever the test says", default=1.0
    ),
    value("--margin", "X", "difference of a mean that does not matter", default=0.02),
)
def bench_compare(args: Namespace, console: Console) -> int:
    """Compare two runs.

    Prints the paired difference over queries, its 95 % bootstrap interval, the p-value of a
    sign-flip test, and a verdict. better, worse: p is at most 0.05 after the correction for the
    number of measures. no difference shown: the interval lies within the margin. cannot tell:
    neither. The exit code is 1 when the second run is worse; a comparison that cannot tell prints a
    warning.

        skillyard bench compare before.json after.json --queries q.jsonl
    """
    from skillyard.evals.operations import benchmarks

    result = benchmarks.bench_compare(
        args.first,
        args.second,
        args.queries,
        names=tuple(args.measure),
        tolerance=args.tolerance,
        margin=args.margin,
    )
    console.show(result, compare_blocks)
    for warning in result.warnings:
        console.note(warning)
    return NEGATIVE if result.regressed else 0


def compare_blocks(result: BenchCompare) -> Iterator[Block]:
    """Yield two runs side by side, and the verdict."""
    yield table(
        result.measures,
        (Column("measure", "name"), lambda one: one.measure),
        (Column("first", right=True), lambda one: f"{one.first:.4f}"),
        (Column("second", right=True), lambda one: f"{one.second:.4f}"),
        (
            Column("difference", right=True),
            lambda one: Span(f"{one.difference:+.4f}", "low" if one.regressed else ""),
        ),
        (Column("95% low", right=True), lambda one: _ends(one.low, one.high, "+.4f")[0]),
        (Column("95% high", right=True), lambda one: _ends(one.low, one.high, "+.4f")[1]),
        (Column("p", right=True), lambda one: f"{one.p_adjusted:.3f}"),
        (Column("better", right=True), lambda one: f"{one.better:,}"),
        (Column("worse", right=True), lambda one: f"{one.worse:,}"),
        (Column("verdict", wide=True), lambda one: one.verdict),
    )
    yield from _equal_note((one.low, one.high) for one in result.measures)
    first, second, verdict = result.first, result.second, result.verdict
    if verdict in ("better", "worse"):
        yield line(f"{second} is {verdict} than {first}")
    elif verdict == "cannot tell":
        yield line(f"cannot tell whether {second} is better or worse than {first}")
    else:
        yield line(f"{verdict} between {first} and {second}")
