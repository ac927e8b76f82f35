"""``index build``, ``index status`` and ``index verify``."""

from __future__ import annotations

import sys

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.usecases import indexing

__all__ = ["index_build", "index_status", "index_verify"]

NEGATIVE = 1


def _roots(values: Values) -> list[str]:
    named = [values.place] if values.place is not None else []
    return [*named, *values.root] or ["."]


def index_build(values: Values, console: Console) -> int:
    """Make the index; with ``--watch`` follow the files until interrupted."""
    from skillyard.cli.progress import progress
    from skillyard.cli.source import note_unloaded

    roots = _roots(values)
    with progress("indexing", console) as step:
        built = indexing.index_build(roots, values.scope, adapt=values.adapt, progress=step)
    _show(built, console)
    note_unloaded(built.diagnostics, values, console)
    if built.hook_problem:
        console.note(f"prompt hooks over this library are not prepared: {built.hook_problem}")
    if values.watch:
        console.note("following the files; interrupt to stop")
        try:
            for changed in indexing.index_follow(roots, values.scope):
                _show(changed, console)
        except KeyboardInterrupt:
            return 0
    return 0


def _show(built: indexing.IndexBuilt, console: Console) -> None:
    if console.json:
        console.document(built.to_dict())
    else:
        from skillyard.cli.views import index_line

        console.print(index_line(built))
    sys.stdout.flush()  # who reads a watch through a pipe reads each line as it comes


def index_status(values: Values, console: Console) -> int:
    """Print the state of the index; 1 unless it is current."""
    found = indexing.index_status(_roots(values), values.scope)
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.views import index_state

        console.print(*index_state(found))
    return 0 if found.state == "current" else NEGATIVE


def index_verify(values: Values, console: Console) -> int:
    """Print what is wrong with the index; 1 when something is."""
    found = indexing.index_verify(_roots(values), values.scope)
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.views import index_findings

        console.print(*index_findings(found))
    return 0 if found.sound else NEGATIVE
