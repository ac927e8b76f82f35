"""The address of a PostgreSQL database, as libpq parses it and as messages show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from skillyard.errors import InvalidInput, StoreRefused
from skillyard.extras import install_command

__all__ = ["address_of", "driver", "parsed", "secrets_in"]

_DEFAULTS: Mapping[str, Any] = {
    "application_name": "skillyard",
    "connect_timeout": 5,
    # A cut cable says nothing: what was sent and not answered for ten seconds was lost.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""What the address may say otherwise, in libpq's words."""
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


def parsed(url: str) -> dict[str, Any]:
    """Return what to connect with, in libpq's words, defaults of this store included.

    Raises InvalidInput, and repeats nothing of an address that may hold a password.
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
        given = psycopg.conninfo.conninfo_to_dict(url)
        return {**_DEFAULTS, **given, "client_encoding": "utf8"}
    except (psycopg.Error, UnicodeError):
        raise InvalidInput(
            "the address of a PostgreSQL store is postgresql://user@host:port/database?option=value"
        ) from None


def secrets_in(parameters: Mapping[str, Any]) -> list[str]:
    """Return what no message may hold."""
    return [parameters[name] for name in _SECRET if parameters.get(name)]


def address_of(parameters: Mapping[str, Any]) -> str:
    """Return the address without password and options."""
    user, host, port, name = (
        quote(str(parameters.get(key) or ""), safe=",:[]")
        for key in ("user", "host", "port", "dbname")
    )
    return f"postgresql://{user + '@' if user else ''}{host}{':' + port if port else ''}/{name}"
