"""The address of a PostgreSQL database: parsing with libpq, and a form for messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from skillyard.base.errors import InvalidInput, StoreRefused
from skillyard.base.extras import install_command

_DEFAULTS: Mapping[str, Any] = {
    "application_name": "skillyard",
    "connect_timeout": 5,
    # A broken connection is silent: data that is not acknowledged for ten seconds counts as lost.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""Default parameters of libpq, which the address can override."""
_SECRET = ("password", "sslpassword")


def driver(address: str) -> Any:
    """Return psycopg. Raises StoreRefused where it is not installed."""
    try:
        import psycopg
    except ImportError:
        raise StoreRefused(
            address, "psycopg is not installed", hint=install_command("postgres")
        ) from None
    return psycopg


def parse_address(url: str) -> dict[str, Any]:
    """Return the connection parameters of libpq, with the defaults of this store.

    Raises InvalidInput without quoting the address, which may contain a password.
    """
    psycopg = driver("postgresql")
    login, _, rest = url.partition("://")[2].partition("?")[0].partition("@")
    if "@" in rest or (rest and "/" in login):
        # libpq would take a part of the login for the host, and messages name the host.
        raise InvalidInput(
            "the address of the store has an @ or a / too many: write @ as %40 and / as %2F in a"
            " password or a name"
        )
    try:
        parameters = psycopg.conninfo.conninfo_to_dict(url)
        return {**_DEFAULTS, **parameters, "client_encoding": "utf8"}
    except (psycopg.Error, UnicodeError):
        raise InvalidInput(
            "the address of a PostgreSQL store is postgresql://user@host:port/database?option=value"
        ) from None


def secrets_in(parameters: Mapping[str, Any]) -> list[str]:
    """Return the secrets that no message may contain."""
    return [parameters[name] for name in _SECRET if parameters.get(name)]


def address_of(parameters: Mapping[str, Any]) -> str:
    """Return the address without password and options."""
    user, host, port, name = (
        quote(str(parameters.get(key) or ""), safe=",:[]")
        for key in ("user", "host", "port", "dbname")
    )
    return f"postgresql://{user + '@' if user else ''}{host}{':' + port if port else ''}/{name}"
