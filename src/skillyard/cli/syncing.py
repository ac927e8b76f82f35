"""``store sync``."""

from __future__ import annotations

import sys

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.cli.storing import address_of_store
from skillyard.usecases import syncing

__all__ = ["store_sync"]


def store_sync(values: Values, console: Console) -> int:
    """Bring a node's folder up to date; with ``--watch`` follow the store until interrupted."""
    from skillyard.cli.progress import progress

    url, caller = address_of_store(values), values.caller
    folder, jobs = values.state_dir or "", values.jobs or 0
    if values.watch:
        console.note("following the store; interrupt to stop")
        try:
            for step in syncing.store_follow(url, caller=caller, folder=folder, jobs=jobs):
                if isinstance(step, str):
                    console.note(step)
                else:
                    _show(step, console)
        except KeyboardInterrupt:
            return 0
    with progress("taking over", console) as told:
        done = syncing.store_sync(url, caller=caller, folder=folder, jobs=jobs, progress=told)
    _show(done, console)
    return 0


def _show(done: syncing.StoreSynced, console: Console) -> None:
    if console.json:
        console.document(done.to_dict())
    else:
        from skillyard.cli.store_views import synced_line

        console.print(synced_line(done))
    sys.stdout.flush()  # who reads a watch through a pipe reads each line as it comes
