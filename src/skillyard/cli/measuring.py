"""``bench run`` and ``bench score``."""

from __future__ import annotations

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.cli.source import scorer_of
from skillyard.service import measuring

__all__ = ["bench_run", "bench_score"]

INTERRUPTED = 3


def bench_run(values: Values, console: Console) -> int:
    """Write a run; 3 when it was interrupted and holds only what was done."""
    from skillyard.cli.progress import progress

    with progress("ranking", console) as step:
        done = measuring.bench_run(
            values.skills, values.queries, values.out, scorer=scorer_of(values), progress=step
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
    found = measuring.bench_score(values.run, values.queries)
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.views import bench_table

        console.print(bench_table(found))
    return 0
