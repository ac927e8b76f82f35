"""Open a store by its address. Packages add kinds through the entry points ``skillyard.stores``."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, cast

from skillyard.base.configuration import read_section
from skillyard.base.errors import InvalidInput, UnknownName
from skillyard.store.backend import Options
from skillyard.store.sql_store import CatalogStore

ENTRY_POINT_GROUP = "skillyard.stores"
STORE = "SKILLYARD_STORE"
"""The environment variable with the address of a store."""

_POSTGRES = ("postgresql", "postgres")
_CLIENT = "skillyard.store.backends.postgres_client"
_BUILT_IN = {
    "postgres": "skillyard.store.backends.postgres:open_postgres",
    "postgresql": "skillyard.store.backends.postgres:open_postgres",
    "sqlite": "skillyard.store.backends.sqlite:open_sqlite",
}


class StoreSection(NamedTuple):
    """The catalog store of the ``store`` commands."""

    url: str = ""
    """Its address, ``sqlite:///file.db`` or ``postgresql://user@host/database``."""
    publisher: str = ""
    """The name in its log; empty: the login name."""


def store_address(named: str | None) -> str:
    """Return the named address, else that of the environment or the settings.

    Raises InvalidInput.
    """
    url = named or os.environ.get(STORE) or read_section("store", StoreSection).url
    if not url:
        raise InvalidInput(f"no store was named: give --store, or set {STORE}")
    return url


def publisher_name(named: str | None) -> str:
    """Return the named publisher, else that of the settings, else the login name.

    Raises InvalidInput.
    """
    configured = named or read_section("store", StoreSection).publisher
    if configured:
        return configured
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):  # a container's user may have no name
        raise InvalidInput("who publishes is not known: give --publisher") from None


def open_store(
    url: str,
    *,
    caller: str | None = None,
    migrate: bool = False,
    connections: int = 4,
    statement_timeout_s: float = 30.0,
    standby_wait_s: float = 10.0,
) -> CatalogStore:
    """Open the store at an address: ``sqlite:///path`` or ``postgresql://user@host/database``.

    ``caller`` restricts it to the view of that caller. ``migrate`` creates or migrates the schema;
    without it a missing or old schema is refused. ``connections`` is the maximum in this process;
    the two times limit one statement, and the wait of a synchronous publish for its standby. An
    entry point is called with the address and an :class:`~skillyard.store.backend.Options`.

    Raises UnknownName for another scheme, InvalidInput, and StoreFailed.
    """
    scheme, _ = _parts_of(url)
    options = Options(caller, migrate, connections, statement_timeout_s, standby_wait_s)
    return cast(CatalogStore, _factory(scheme)(url, options))


def safe_address(url: str) -> str:
    """Return an address without credentials and options, for messages, without connecting.

    Raises InvalidInput for an invalid address.
    """
    scheme, rest = _parts_of(url)
    if scheme in _POSTGRES:
        client = import_module(_CLIENT)
        return str(client.address_of(client.parse_address(url)))
    # The position of a password in an address of a plugin is unknown.
    return url if scheme == "sqlite" else f"{scheme}:{'//…' if rest else ''}"


def _parts_of(url: str) -> tuple[str, str]:
    """Return the scheme of an address, and the rest. Raises InvalidInput for one without scheme."""
    scheme, colon, rest = url.partition(":") if isinstance(url, str) else ("", "", "")
    if not colon:
        # The address may contain a password and is not quoted.
        raise InvalidInput("the address of a store begins with its kind, as in sqlite:///path")
    return scheme, rest


def login_of(url: str) -> str:
    """Return the login of an address; empty when it has none.

    Different logins may see different skills. Raises InvalidInput.
    """
    if url.partition(":")[0] not in _POSTGRES:
        return ""
    return str(import_module(_CLIENT).parse_address(url).get("user") or "")


def check_kind(url: str) -> None:
    """Raise UnknownName for an unsupported scheme, InvalidInput for an invalid address."""
    safe_address(url)
    _factory(url.partition(":")[0])


def _factory(scheme: str) -> Callable[[str, Options], Any]:
    target = _BUILT_IN.get(scheme)
    if target is not None:
        module, _, name = target.partition(":")
        return cast(Callable[[str, Options], Any], getattr(import_module(module), name))
    load = _entry_points().get(scheme)
    if load is None:
        raise UnknownName("store", scheme[:40], sorted({*_BUILT_IN, *_entry_points()}))
    return cast(Callable[[str, Options], Any], load())


def _entry_points() -> dict[str, Callable[[], Any]]:
    from importlib.metadata import entry_points

    return {point.name: point.load for point in entry_points(group=ENTRY_POINT_GROUP)}
