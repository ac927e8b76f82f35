"""``bench``: runs, their scores, comparisons, reports and replays."""

from __future__ import annotations

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.cli.source import scorer_of
from skillyard.usecases import measuring

__all__ = ["bench_compare", "bench_replay", "bench_report", "bench_run", "bench_score"]

NEGATIVE = 1

INTERRUPTED = 3


def bench_run(values: Values, console: Console) -> int:
    """Write a run; 3 when it was interrupted and holds only what was done."""
    from skillyard.cli.progress import progress
    from skillyard.cli.source import load

    skills = values.skills if values.skills is not None else load(values, console)
    with progress("ranking", console) as step:
        done = measuring.bench_run(
            skills,
            values.queries,
            values.out,
            scorer=scorer_of(values),
            format=values.format,
            progress=step,
        )
    if console.json:
        console.document(done.to_dict())
    else:
        from skillyard.cli.views import bench_line

        console.print(bench_line(done))
    if not done.complete:
        console.note("interrupted: that file holds only the queries that were done")
        return INTERRUPTED
    return 0


def bench_score(values: Values, console: Console) -> int:
    """Print the measures of a run."""
    found = measuring.bench_score(
        values.run, values.queries, names=tuple(values.measure), qrels=values.qrels
    )
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.views import bench_table

        console.print(bench_table(found))
    return 0


def bench_compare(values: Values, console: Console) -> int:
    """Print how two runs differ; 1 when the second one is worse."""
    found = measuring.bench_compare(
        values.first,
        values.second,
        values.queries,
        names=tuple(values.measure),
        tolerance=values.tolerance,
    )
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.views import compare_table

        console.print(*compare_table(found))
    return NEGATIVE if found.regressed else 0


def bench_report(values: Values, console: Console) -> int:
    """Write the report and name it."""
    out = measuring.bench_report(values.run, values.queries, values.out, against=values.against)
    if console.json:
        console.document({"schema": "skillyard.bench-report/1", "out": out})
    else:
        from skillyard.cli.blocks import Span, line

        console.print(line(Span(out, "name"), "  written"))
    return 0


def bench_replay(values: Values, console: Console) -> int:
    """Print what moved; 1 when anything did."""
    from skillyard.cli.source import load, note_unloaded

    catalog = load(values, console)
    found = measuring.bench_replay(catalog, values.log)
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.views import replay_table

        console.print(*replay_table(found))
        note_unloaded(catalog.diagnostics, values, console)
    return NEGATIVE if found.moved else 0
