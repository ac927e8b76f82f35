"""``store``: the past of a catalog store."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.commands.store_options import (
    publisher_of,
    store_address,
)
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import add_limit, add_options, whole_number
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands
    from skillyard.store.operations.catalog_store import StoreChanged


def add_store_withdraw_command(commands: Commands) -> None:
    """Declare ``store withdraw``."""
    parser = add_command(
        commands,
        "withdraw",
        "withdraw skills from the catalog; their history stays",
        run=withdraw,
        about="Exits with 1 when there was no skill at a place.",
        examples=("skillyard store withdraw tools/old-one --tenant acme",),
    )
    parser.add_argument(
        "place", metavar="PLACE", nargs="*", default=[], help="place of a skill in the catalog"
    )
    add_options(
        parser, "--store", "--tenant", "--namespace", "--source", "--publisher", "--durability"
    )


def withdraw(args: Namespace, console: Console) -> int:
    """Take skills out; 1 when a place held nothing."""
    from skillyard.store.operations import catalog_store

    done = catalog_store.store_withdraw(
        store_address(args),
        args.place,
        tenant=args.tenant,
        publisher=publisher_of(args),
        namespace=args.namespace or "",
        source=args.source or "",
        durability=args.durability,
    )
    _print_change(done, console)
    return NEGATIVE if done.unchanged else 0


def add_store_rollback_command(commands: Commands) -> None:
    """Declare ``store rollback``."""
    parser = add_command(
        commands,
        "rollback",
        "restore a tenant's skills to an earlier generation",
        run=rollback,
        about="This makes a new generation, so it can be undone in the same way.",
        examples=("skillyard store rollback 41 --tenant acme",),
    )
    parser.add_argument(
        "generation",
        metavar="GENERATION",
        type=whole_number,
        help="number of the generation, as in the log",
    )
    add_options(parser, "--store", "--tenant", "--publisher", "--durability")


def rollback(args: Namespace, console: Console) -> int:
    """Make a tenant's skills what they were."""
    from skillyard.store.operations import catalog_store

    done = catalog_store.store_rollback(
        store_address(args),
        args.generation,
        tenant=args.tenant,
        publisher=publisher_of(args),
        durability=args.durability,
    )
    _print_change(done, console)
    return 0


def _print_change(done: StoreChanged, console: Console) -> None:
    from skillyard.cli.store_views import changed_line

    console.show(done, changed_line)


def add_store_log_command(commands: Commands) -> None:
    """Declare ``store log``."""
    parser = add_command(
        commands,
        "log",
        "list the last generations, newest first",
        run=log,
        examples=("skillyard store log --limit 5",),
    )
    add_options(parser, "--store")
    add_limit(parser, "show the last K generations", 20)


def log(args: Namespace, console: Console) -> int:
    """Print the last generations."""
    from skillyard.store.operations import catalog_store

    result = catalog_store.store_log(store_address(args), args.limit)
    from skillyard.cli.store_views import log_blocks

    console.show(result, log_blocks)
    return 0


def add_store_history_command(commands: Commands) -> None:
    """Declare ``store history``."""
    parser = add_command(
        commands,
        "history",
        "list every version of a skill, oldest first",
        run=history,
        examples=("skillyard store history csv-cleaning --tenant acme",),
    )
    parser.add_argument("place", metavar="PLACE", help="place of the skill, now or in the past")
    add_options(parser, "--store", "--tenant", "--namespace", "--source")


def history(args: Namespace, console: Console) -> int:
    """Print every version of a skill."""
    from skillyard.store.operations import catalog_store

    result = catalog_store.store_history(
        store_address(args),
        args.place,
        tenant=args.tenant,
        namespace=args.namespace or "",
        source=args.source or "",
    )
    from skillyard.cli.store_views import history_blocks

    console.show(result, history_blocks)
    return 0
