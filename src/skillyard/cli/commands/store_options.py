"""Arguments of ``store`` commands, and what the environment says where they are not given."""

from __future__ import annotations

import os
from argparse import Namespace

from skillyard.cli.parser import CommandParser
from skillyard.errors import InvalidInput

__all__ = [
    "add_durability",
    "add_namespace",
    "add_publisher",
    "add_source",
    "add_tenant",
    "publisher_of",
    "store_address",
]

STORE = "SKILLYARD_STORE"
PUBLISHER = "SKILLYARD_PUBLISHER"


def add_tenant(parser: CommandParser) -> None:
    """Add ``--tenant``."""
    parser.add_argument(
        "--tenant", metavar="TENANT", required=True, help="tenant that owns the skills"
    )


def add_namespace(parser: CommandParser) -> None:
    """Add ``--namespace``."""
    parser.add_argument(
        "--namespace",
        metavar="NAME",
        help="part of the tenant, words joined by / (default: its top)",
    )


def add_source(parser: CommandParser) -> None:
    """Add ``--source``."""
    parser.add_argument(
        "--source", metavar="NAME", help="the source of the skills, as owner/repo (default: none)"
    )


def add_publisher(parser: CommandParser) -> None:
    """Add ``--publisher``."""
    parser.add_argument(
        "--publisher",
        metavar="NAME",
        help="name in the log (default: SKILLYARD_PUBLISHER, else the login name)",
    )


def add_durability(parser: CommandParser) -> None:
    """Add ``--durability``."""
    parser.add_argument(
        "--durability",
        metavar="WHEN",
        choices=("local", "synchronous"),
        default="local",
        help=(
            "acknowledge when the data is on the local disk, or also on a standby (default: local)"
        ),
    )


def store_address(args: Namespace) -> str:
    """Return the address of ``--store``, else of the environment. Raises InvalidInput."""
    url = args.store or os.environ.get(STORE)
    if not url:
        raise InvalidInput(f"no store was named: give --store, or set {STORE}")
    return str(url)


def publisher_of(args: Namespace) -> str:
    """Return ``--publisher``, else the environment's, else the login name. Raises InvalidInput."""
    named = args.publisher or os.environ.get(PUBLISHER)
    if named:
        return str(named)
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):  # a container's user may have no name
        raise InvalidInput(
            f"who publishes is not known: give --publisher, or set {PUBLISHER}"
        ) from None
