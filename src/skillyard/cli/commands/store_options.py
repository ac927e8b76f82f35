"""Arguments of ``store`` commands, and what the environment says where they are not given."""

from __future__ import annotations

import os
from argparse import Namespace

from skillyard.base.errors import InvalidInput

STORE = "SKILLYARD_STORE"
PUBLISHER = "SKILLYARD_PUBLISHER"


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
