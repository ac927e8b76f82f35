"""``store``: who may see what."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.commands.store_options import store_address
from skillyard.cli.console import Console
from skillyard.cli.options import add_options
from skillyard.cli.parser import CommandParser, add_command

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands
    from skillyard.store.operations.catalog_store import StoreGranted
    from skillyard.store.values import Grant


def _add_places(parser: CommandParser) -> None:
    parser.add_argument(
        "--place",
        action="append",
        default=[],
        metavar="PLACE",
        help="only the skill at this place; may repeat",
    )


def add_store_grant_command(commands: Commands) -> None:
    """Declare ``store grant``."""
    parser = add_command(
        commands,
        "grant",
        "let a caller see a tenant's skills, or some of them",
        run=grant,
        about="A grant of a namespace includes all below it. Grants add up.",
        examples=(
            "skillyard store grant team-a --tenant acme",
            "skillyard store grant team-b --tenant acme --namespace web --place csv-cleaning",
        ),
    )
    parser.add_argument("caller", metavar="CALLER", help="caller who gets access")
    add_options(parser, "--store", "--tenant", "--namespace")
    _add_places(parser)


def grant(args: Namespace, console: Console) -> int:
    """Let a caller see more."""
    from skillyard.store.operations import catalog_store

    return _print_grant(catalog_store.store_grant(store_address(args), _grant(args)), console)


def add_store_revoke_command(commands: Commands) -> None:
    """Declare ``store revoke``."""
    parser = add_command(
        commands,
        "revoke",
        "revoke a grant, or some places of it",
        run=revoke,
        about=(
            "Without --place, revokes all grants of that namespace, also those of single places."
        ),
        examples=("skillyard store revoke team-a --tenant acme",),
    )
    parser.add_argument("caller", metavar="CALLER", help="caller who loses access")
    add_options(parser, "--store", "--tenant", "--namespace")
    _add_places(parser)


def revoke(args: Namespace, console: Console) -> int:
    """Let a caller see less."""
    from skillyard.store.operations import catalog_store

    return _print_grant(catalog_store.store_revoke(store_address(args), _grant(args)), console)


def _grant(args: Namespace) -> Grant:
    from skillyard.store.values import Grant

    return Grant(args.caller, args.tenant, args.namespace or "", tuple(args.place))


def _print_grant(done: StoreGranted, console: Console) -> int:
    from skillyard.cli.store_views import granted_line

    console.show(done, granted_line)
    return 0


def add_store_grants_command(commands: Commands) -> None:
    """Declare ``store grants``."""
    parser = add_command(
        commands, "grants", "list the grants", run=grants, examples=("skillyard store grants",)
    )
    parser.add_argument("caller", metavar="CALLER", nargs="?", help="only grants of this caller")
    add_options(parser, "--store")


def grants(args: Namespace, console: Console) -> int:
    """Print who may see what."""
    from skillyard.store.operations import catalog_store

    result = catalog_store.store_grants(store_address(args), args.caller)
    from skillyard.cli.store_views import grants_blocks

    console.show(result, grants_blocks)
    return 0
