"""``store``: publishing to a catalog store."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.base.errors import SkillyardError
from skillyard.cli.commands.store_grants import (
    add_store_grant_command,
    add_store_grants_command,
    add_store_revoke_command,
)
from skillyard.cli.commands.store_history import (
    add_store_history_command,
    add_store_log_command,
    add_store_rollback_command,
    add_store_withdraw_command,
)
from skillyard.cli.commands.store_options import (
    publisher_of,
    store_address,
)
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import INTERRUPTED, NEGATIVE
from skillyard.cli.options import (
    add_options,
    folder,
    whole_number,
)
from skillyard.cli.parser import add_command, add_group

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands
    from skillyard.store.operations.catalog_store import StoreMigrated
    from skillyard.store.operations.folder_publish import Options, Step, StorePublished


def add_store_init_command(commands: Commands) -> None:
    """Declare ``store init``."""
    parser = add_command(
        commands,
        "init",
        "create the tables of a catalog store",
        run=init,
        about=(
            "An existing store is left unchanged. In PostgreSQL this also creates the role "
            "skillyard_reader, which needs CREATEROLE."
        ),
        examples=("skillyard store init --store sqlite:///catalog.db",),
    )
    add_options(parser, "--store")


def init(args: Namespace, console: Console) -> int:
    """Make the tables, and say what to do next."""
    from skillyard.store.operations import catalog_store

    return _print_schema(catalog_store.store_init(store_address(args)), console)


def add_store_migrate_command(commands: Commands) -> None:
    """Declare ``store migrate``."""
    parser = add_command(
        commands,
        "migrate",
        "migrate the tables of a catalog store to this version",
        run=migrate,
        about="There is no way back: older versions of skillyard refuse a migrated store.",
        examples=("skillyard store migrate",),
    )
    add_options(parser, "--store")


def migrate(args: Namespace, console: Console) -> int:
    """Bring the tables up to date."""
    from skillyard.store.operations import catalog_store

    return _print_schema(catalog_store.store_migrate(store_address(args)), console)


def _print_schema(done: StoreMigrated, console: Console) -> int:
    from skillyard.cli.store_views import migrated_blocks

    console.show(done, migrated_blocks)
    return 0


def add_store_publish_command(commands: Commands) -> None:
    """Declare ``store publish``."""
    parser = add_command(
        commands,
        "publish",
        "publish skill folders to a catalog store",
        run=publish,
        about=(
            "Skills that are published already are neither parsed nor sent, so a second run, "
            "or a run after an interrupt, does only what is left. Bad files are "
            "reported and skipped; the exit code is then 1. On an interrupt it completes the "
            "current batch and exits with 3."
        ),
        examples=(
            "skillyard store publish skills --tenant acme",
            "skillyard store publish skills --tenant acme --namespace web --prune",
        ),
    )
    parser.add_argument(
        "folder",
        metavar="ROOT",
        nargs="*",
        default=[],
        type=folder,
        help="roots with skill folders, before --root (default: .)",
    )
    add_options(parser, "--store", "--tenant", "--namespace", "--publisher")
    parser.add_argument(
        "--source",
        metavar="NAME",
        help="the source of the skills, as owner/repo (default: none)",
    )
    add_options(parser, "--durability")
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=whole_number,
        help="worker processes (default: one per processor)",
    )
    parser.add_argument(
        "--batch",
        metavar="N",
        type=whole_number,
        default=2000,
        help="skills in one generation (default: 2000)",
    )
    parser.add_argument(
        "--prune",
        action="store_true",
        help="withdraw skills of the namespace and source that no longer exist",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="read and compare, but publish nothing"
    )


def publish(args: Namespace, console: Console) -> int:
    """Publish; 1 when something could not be, 3 when it was stopped."""
    options = _options(args)
    report = _publish(args, options, console)
    from skillyard.cli.store_views import published_blocks

    console.show(report, published_blocks)
    if not report.complete:
        console.note("interrupted: what is counted stands; publish again to go on")
        return INTERRUPTED
    unpruned = options.prune and not report.pruned
    if unpruned:
        console.note("nothing was pruned: not everything could be read")
    return NEGATIVE if report.diagnostics or report.left_out or unpruned else 0


def _publish(args: Namespace, options: Options, console: Console) -> StorePublished:
    """Publish until all is done or an interrupt; an error says first what is acknowledged."""
    from skillyard.cli.interrupts import stop_on_interrupt
    from skillyard.cli.progress import progress
    from skillyard.cli.source import unbound_library_of
    from skillyard.store.operations.folder_publish import store_publish

    library = unbound_library_of(args, args.folder)
    last: list[Step] = []
    try:
        with stop_on_interrupt() as stop, progress("publishing", console) as show:

            def note_step(step: Step) -> None:
                last[:] = [step]
                if show is not None:
                    show(step.done, None)

            roots = () if library is None else library.roots
            return store_publish(store_address(args), roots, options, stop=stop, tell=note_step)
    except SkillyardError:
        if last and last[0].generation and not options.dry_run:
            published = f"{last[0].published:,} skills stand, up to generation {last[0].generation}"
            console.note(f"acknowledged before this: {published}; publish again to go on")
        raise


def _options(args: Namespace) -> Options:
    from skillyard.base.io.processes import processors
    from skillyard.store.operations.folder_publish import Options

    return Options(
        args.tenant,
        publisher_of(args),
        args.namespace or "",
        args.source or "",
        args.durability,
        processors() if args.jobs is None else args.jobs,
        args.batch,
        args.prune,
        args.dry_run,
    )


def add_store_status_command(commands: Commands) -> None:
    """Declare ``store status``."""
    parser = add_command(
        commands,
        "status",
        "show the state of a catalog store: schema, generation, skills, standbys",
        run=status,
        examples=("skillyard store status --store postgresql://owner@db/skills",),
    )
    add_options(parser, "--store")


def status(args: Namespace, console: Console) -> int:
    """Print how the store is."""
    from skillyard.store.operations import catalog_store

    result = catalog_store.store_status(store_address(args))
    from skillyard.cli.store_views import status_blocks

    console.show(result, status_blocks)
    return 0


def add_store_group(commands: Commands) -> None:
    """Declare ``store`` and its commands."""
    group = add_group(commands, "store", "a catalog store that several machines share")
    add_store_init_command(group)
    add_store_migrate_command(group)
    add_store_publish_command(group)
    add_store_withdraw_command(group)
    add_store_rollback_command(group)
    add_store_log_command(group)
    add_store_history_command(group)
    add_store_status_command(group)
    add_store_grant_command(group)
    add_store_revoke_command(group)
    add_store_grants_command(group)


COMMANDS = {"store": add_store_group}
