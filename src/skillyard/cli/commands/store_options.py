"""Arguments of ``store`` commands, and what the configuration says where they are not given."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import NamedTuple

from skillyard.base.configuration import read_section
from skillyard.base.errors import InvalidInput

STORE = "SKILLYARD_STORE"


class StoreSection(NamedTuple):
    """The catalog store of the ``store`` commands."""

    url: str = ""
    """Its address, ``sqlite:///file.db`` or ``postgresql://user@host/database``."""
    publisher: str = ""
    """The name in its log; empty: the login name."""


def store_address(args: Namespace) -> str:
    """Return the address of ``--store``, else the configured one. Raises InvalidInput."""
    url = args.store or os.environ.get(STORE) or read_section("store", StoreSection).url
    if not url:
        raise InvalidInput(f"no store was named: give --store, or set {STORE}")
    return str(url)


def publisher_of(args: Namespace) -> str:
    """Return ``--publisher``, else the configured one, else the login name. Raises InvalidInput."""
    named = args.publisher or read_section("store", StoreSection).publisher
    if named:
        return str(named)
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):  # a container's user may have no name
        raise InvalidInput("who publishes is not known: give --publisher") from None
