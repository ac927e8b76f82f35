"""``bench``: measuring a ranking against judged queries."""

from __future__ import annotations

from argparse import Namespace
from os.path import isdir
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.exit_codes import INTERRUPTED, NEGATIVE
from skillyard.cli.options import add_scorer, file_path, number
from skillyard.cli.parser import CommandParser, add_command, add_group
from skillyard.cli.source import scorer_of

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands
    from skillyard.engine.catalog import Catalog


def _add_judged(parser: CommandParser) -> None:
    parser.add_argument(
        "--queries",
        action="append",
        default=[],
        metavar="FILE",
        type=file_path,
        required=True,
        help="judged queries; may repeat",
    )


def _add_measure(parser: CommandParser) -> None:
    parser.add_argument(
        "--measure",
        action="append",
        default=[],
        metavar="NAME",
        help="a measure by name, as nDCG@10, P@1, R@10, MRR@10; may repeat",
    )


def add_bench_run_command(commands: Commands) -> None:
    """Declare ``bench run``."""
    parser = add_command(
        commands,
        "run",
        "rank skills for the queries of a file",
        run=bench_run,
        about=(
            "Ignores every selection policy. Writes up to 50 skills with a score above zero "
            'for each query. A query is {"id", "query", "files"?, "relevant"?: {skill id: grade}, '
            '"kind"?}; "request" may stand for "query", and "expect": [skill id, ...] '
            'for "relevant". Without --scorer the scorer that skillyard.toml names ranks, else '
            "hybrid; the answer and the tag of a trec run name it."
        ),
        examples=(
            "skillyard bench run --skills s.jsonl.gz --queries q.jsonl --out run.json",
            "skillyard bench run --skills skills --queries requests.jsonl --out run.json",
        ),
    )
    parser.add_argument(
        "--skills",
        metavar="PLACE",
        type=file_path,
        help=(
            "a folder of skills, or one JSON skill a line, .gz or not (default: the "
            "skills of --root)"
        ),
    )
    parser.add_argument(
        "--queries", metavar="FILE", type=file_path, required=True, help="one JSON query a line"
    )
    add_scorer(parser)
    parser.add_argument(
        "--out", metavar="FILE", type=file_path, required=True, help="the run file to write"
    )
    parser.add_argument(
        "--format",
        metavar="FORMAT",
        choices=("json", "trec"),
        default="json",
        help="json, or trec: query Q0 id rank score tag (default: json)",
    )


def bench_run(args: Namespace, console: Console) -> int:
    """Write a run; 3 when it was interrupted and holds only what was done."""
    from skillyard.cli.progress import progress
    from skillyard.cli.source import load, refuse_library
    from skillyard.engine.ranking.registry import DEFAULT_SCORER
    from skillyard.evals.operations import benchmarks

    if args.skills is None:
        skills = load(args, console)
    else:
        refuse_library(args, "with --skills")
        skills = _catalog_at(args.skills) if isdir(args.skills) else args.skills
    with progress("ranking", console) as step:
        done = benchmarks.bench_run(
            skills,
            args.queries,
            args.out,
            scorer=scorer_of(args),
            format=args.format,
            progress=step,
        )
    from skillyard.cli.views import bench_line

    if args.scorer is None and done.scorer != DEFAULT_SCORER:
        console.note(f"ranked by {done.scorer}, which skillyard.toml names")
    console.show(done, bench_line)
    if not done.complete:
        console.note("interrupted: that file holds only the queries that were done")
        return INTERRUPTED
    return 0


def _catalog_at(path: str) -> Catalog:
    from skillyard.base.errors import InvalidInput
    from skillyard.install.policy.library import load_catalog

    catalog = load_catalog(path)
    if not len(catalog):
        raise InvalidInput(f"no skills below {path}: `skillyard list {path}` shows what it reads")
    return catalog


def add_bench_score_command(commands: Commands) -> None:
    """Declare ``bench score``."""
    parser = add_command(
        commands,
        "score",
        "measure a run against judged queries",
        run=bench_score,
        about=(
            "Reads JSON runs and TREC runs. Prints means over all queries with 95 % "
            "intervals, and by kind."
        ),
        examples=(
            "skillyard bench score --run run.json --queries q.jsonl",
            "skillyard bench score --run run.trec --queries q.jsonl --measure P@3",
        ),
    )
    parser.add_argument("--run", metavar="FILE", type=file_path, required=True, help="a run file")
    _add_judged(parser)
    parser.add_argument(
        "--qrels",
        metavar="FILE",
        type=file_path,
        help="TREC relevance judgements, instead of those of the queries",
    )
    _add_measure(parser)


def bench_score(args: Namespace, console: Console) -> int:
    """Print the measures of a run."""
    from skillyard.evals.operations import benchmarks

    result = benchmarks.bench_score(
        args.run, args.queries, names=tuple(args.measure), qrels=args.qrels
    )
    from skillyard.cli.views import bench_table

    console.show(result, bench_table)
    return 0


def add_bench_compare_command(commands: Commands) -> None:
    """Declare ``bench compare``."""
    parser = add_command(
        commands,
        "compare",
        "compare two runs",
        run=bench_compare,
        about=(
            "Prints the paired difference over queries, its 95 % bootstrap interval, the p-value "
            "of a sign-flip test, and a verdict. better, worse: p is at most 0.05 after the "
            "correction for the number of measures. no difference shown: the interval lies "
            "within the margin. cannot tell: neither. The exit code is 1 when the second run is "
            "worse; a comparison that cannot tell prints a warning."
        ),
        examples=("skillyard bench compare before.json after.json --queries q.jsonl",),
    )
    parser.add_argument("first", metavar="FIRST", type=file_path, help="a run file")
    parser.add_argument("second", metavar="SECOND", type=file_path, help="a run file")
    _add_judged(parser)
    _add_measure(parser)
    parser.add_argument(
        "--tolerance",
        metavar="X",
        type=number,
        default=1.0,
        help="largest acceptable drop of a mean, whatever the test says (default: 1)",
    )
    parser.add_argument(
        "--margin",
        metavar="X",
        type=number,
        default=0.02,
        help="difference of a mean that does not matter (default: 0.02)",
    )


def bench_compare(args: Namespace, console: Console) -> int:
    """Print how two runs differ; 1 when the second one is worse."""
    from skillyard.evals.operations import benchmarks

    result = benchmarks.bench_compare(
        args.first,
        args.second,
        args.queries,
        names=tuple(args.measure),
        tolerance=args.tolerance,
        margin=args.margin,
    )
    from skillyard.cli.views import compare_table

    console.show(result, compare_table)
    for warning in result.warnings:
        console.note(warning)
    return NEGATIVE if result.regressed else 0


def add_bench_group(commands: Commands) -> None:
    """Declare ``bench`` and its commands."""
    group = add_group(commands, "bench", "retrieval evaluation")
    add_bench_run_command(group)
    add_bench_score_command(group)
    add_bench_compare_command(group)


COMMANDS = {"bench": add_bench_group}
