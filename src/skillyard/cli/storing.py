"""``store``: publishing to a catalog store, looking into its past, and who may see what."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.cli.stopping import stopping
from skillyard.errors import InvalidInput, SkillyardError
from skillyard.usecases import storing

if TYPE_CHECKING:
    from skillyard.store.ingest.work import Options, Step
    from skillyard.store.values import Grant

__all__ = [
    "address_of_store",
    "grant",
    "grants",
    "history",
    "init",
    "log",
    "migrate",
    "publish",
    "revoke",
    "rollback",
    "status",
    "withdraw",
]

NEGATIVE = 1
INTERRUPTED = 3
VARIABLE = "SKILLYARD_STORE"
PUBLISHER = "SKILLYARD_PUBLISHER"


def address_of_store(values: Values) -> str:
    """Return the address of ``--store``, else of the environment. Raises InvalidInput."""
    url = values.store or os.environ.get(VARIABLE)
    if not url:
        raise InvalidInput(f"no store was named: give --store, or set {VARIABLE}")
    return str(url)


def _publisher(values: Values) -> str:
    named = values.publisher or os.environ.get(PUBLISHER)
    if named:
        return str(named)
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):  # a container's user may have no name
        raise InvalidInput(
            f"who publishes is not known: give --publisher, or set {PUBLISHER}"
        ) from None


def init(values: Values, console: Console) -> int:
    """Make the tables, and say what to do next."""
    return _migrated(storing.store_init(address_of_store(values)), console)


def migrate(values: Values, console: Console) -> int:
    """Bring the tables up to date."""
    return _migrated(storing.store_migrate(address_of_store(values)), console)


def _migrated(done: storing.StoreMigrated, console: Console) -> int:
    if console.json:
        console.document(done.to_dict())
    else:
        from skillyard.cli.store_views import migrated_blocks

        console.print(*migrated_blocks(done))
    return 0


def publish(values: Values, console: Console) -> int:
    """Publish; 1 when something could not be, 3 when it was stopped."""
    from skillyard.cli.store_progress import store_progress

    url, options = address_of_store(values), _options(values)
    roots = [*values.folder, *values.root]
    if not roots and not values.jsonl:
        roots = ["."]
    stop = threading.Event()
    last: list[Step] = []
    try:
        with stopping(stop), store_progress(console) as step:

            def tell(now: Step) -> None:
                last[:] = [now]
                if step is not None:
                    step(now)

            done = storing.store_publish(
                url,
                options,
                roots=roots,
                lines=values.jsonl,
                stop=stop,
                tell=tell if step is not None else None,
            )
    except SkillyardError:
        if last and last[0].generation and not options.dry_run:
            said = f"{last[0].published:,} skills stand, up to generation {last[0].generation}"
            console.note(f"acknowledged before this: {said}; publish again to go on")
        raise
    if console.json:
        console.document(done.to_dict())
    else:
        from skillyard.cli.store_views import published_blocks

        console.print(*published_blocks(done))
    if not done.done.complete:
        console.note("interrupted: what is counted stands; publish again to go on")
        return INTERRUPTED
    if options.prune and not done.done.pruned:
        console.note("nothing was pruned: not everything could be read")
    unread = done.done.diagnostics or done.done.left_out or (options.prune and not done.done.pruned)
    return NEGATIVE if unread else 0


def _options(values: Values) -> Options:
    from skillyard.store.ingest.partition import Partition
    from skillyard.store.ingest.pool import processors
    from skillyard.store.ingest.work import Options

    return Options(
        values.tenant,
        _publisher(values),
        values.namespace or "",
        values.source or "",
        values.durability,
        processors() if values.jobs is None else values.jobs,
        values.batch,
        None if values.partition is None else Partition.parse(values.partition),
        values.prune,
        values.dry_run,
    )


def withdraw(values: Values, console: Console) -> int:
    """Take skills out; 1 when a place held nothing."""
    done = storing.store_withdraw(
        address_of_store(values),
        values.place,
        tenant=values.tenant,
        publisher=_publisher(values),
        namespace=values.namespace or "",
        source=values.source or "",
        durability=values.durability,
    )
    _changed(done, console)
    return NEGATIVE if done.done.unchanged else 0


def rollback(values: Values, console: Console) -> int:
    """Make a tenant's skills what they were."""
    done = storing.store_rollback(
        address_of_store(values),
        values.generation,
        tenant=values.tenant,
        publisher=_publisher(values),
        durability=values.durability,
    )
    _changed(done, console)
    return 0


def _changed(done: storing.StoreChanged, console: Console) -> None:
    if console.json:
        console.document(done.to_dict())
    else:
        from skillyard.cli.store_views import changed_line

        console.print(changed_line(done))


def log(values: Values, console: Console) -> int:
    """Print the last generations."""
    found = storing.store_log(address_of_store(values), values.limit)
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.store_views import log_blocks

        console.print(*log_blocks(found))
    return 0


def history(values: Values, console: Console) -> int:
    """Print every version of a skill."""
    found = storing.store_history(
        address_of_store(values),
        values.place,
        tenant=values.tenant,
        namespace=values.namespace or "",
        source=values.source or "",
    )
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.store_views import history_blocks

        console.print(*history_blocks(found))
    return 0


def status(values: Values, console: Console) -> int:
    """Print how the store is."""
    found = storing.store_status(address_of_store(values))
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.store_views import status_blocks

        console.print(*status_blocks(found))
    return 0


def grant(values: Values, console: Console) -> int:
    """Let a caller see more."""
    return _granted(storing.store_grant(address_of_store(values), _grant(values)), console)


def revoke(values: Values, console: Console) -> int:
    """Let a caller see less."""
    return _granted(storing.store_revoke(address_of_store(values), _grant(values)), console)


def _grant(values: Values) -> Grant:
    from skillyard.store.values import Grant

    return Grant(values.caller, values.tenant, values.namespace or "", tuple(values.place))


def _granted(done: storing.StoreGranted, console: Console) -> int:
    if console.json:
        console.document(done.to_dict())
    else:
        from skillyard.cli.store_views import granted_line

        console.print(granted_line(done))
    return 0


def grants(values: Values, console: Console) -> int:
    """Print who may see what."""
    found = storing.store_grants(address_of_store(values), values.caller)
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.store_views import grants_blocks

        console.print(*grants_blocks(found))
    return 0
