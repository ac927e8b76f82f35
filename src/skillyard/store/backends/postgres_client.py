"""How a program meets a PostgreSQL server: its address, its errors, and a limit for each wait.

No message contains a credential. ``statement_timeout`` needs a running server, and TCP keepalive
only detects a dead kernel; neither detects a stopped process, or a proxy that no longer forwards.
So each wait for the server has a limit of its own.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from skillyard.base.errors import (
    InvalidInput,
    StoreFailed,
    StoreRefused,
    StoreSchema,
    StoreUnavailable,
)
from skillyard.base.extras import install_command

if TYPE_CHECKING:
    import psycopg

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


_Failure = tuple[type[StoreFailed], str, str]
_AWAY: _Failure = (StoreUnavailable, "the server is away", "")

_BY_STATE: dict[str, _Failure] = {
    "25006": (
        StoreRefused,
        "this server only reads: it is a standby",
        "name the primary, or several hosts with target_session_attrs=read-write",
    ),
    "42501": (StoreRefused, "the login lacks a right", "let the owner of the store grant it"),
    "53100": (StoreUnavailable, "the server's disk is full", "make room and do it again"),
    "53300": (StoreUnavailable, "the server has no connection left", ""),
    "55P03": (StoreUnavailable, "another writer was busy for too long", "do it again"),
    "57014": (StoreUnavailable, "a statement took longer than {timeout_s:g} seconds", ""),
    "3D000": (StoreRefused, "there is no such database", ""),
    "3F000": (StoreSchema, "its tables are not those of a catalog", ""),
    "XX001": (StoreSchema, "its tables are damaged", "put a backup back"),
    "XX002": (StoreSchema, "an index is damaged", "reindex it"),
}
"""By SQLSTATE (Appendix A of PostgreSQL's manual): error, message, hint."""
_BY_CLASS: dict[str, _Failure] = {
    "08": _AWAY,
    "22": (StoreRefused, "it cannot hold a value", ""),
    "23": (StoreSchema, "its tables contradict what was to be written", ""),
    "28": (StoreRefused, "the server does not let this login in", ""),
    "40": (StoreUnavailable, "it was in another's way", "do it again"),
    "42": (StoreSchema, "its tables are not those of a catalog", ""),
    "53": (StoreUnavailable, "the server is short of something", ""),
    "54": (StoreRefused, "it cannot hold a value", ""),
    "57": _AWAY,
    "58": (StoreUnavailable, "the server cannot read or write its files", ""),
}
_NOT_LET_IN = (
    *("authentication failed", "no password supplied", "no pg_hba.conf entry", "does not exist"),
    *("not permitted to log in", "permission denied", "certificate", "does not support ssl"),
    *("root.crt", "password file"),
)
"""Messages of libpq about logins for which a retry is useless; they have no SQLSTATE."""
MAX_CHARS = 400


def failure_of(
    error: psycopg.Error,
    address: str,
    *,
    secrets: Iterable[str] = (),
    timeout_s: float = 0.0,
    committed: bool | None = False,
) -> StoreFailed:
    """Return the store's error for a PostgreSQL error."""
    kind, what, hint = _description(error)
    message = " ".join(str(error).split())[:MAX_CHARS]
    for secret in secrets:
        message = message.replace(secret, "***")
    failure = kind(
        address, f"{what.format(timeout_s=timeout_s)} (PostgreSQL: {message})", hint=hint
    )
    failure.committed = committed
    return failure


def _description(error: psycopg.Error) -> _Failure:
    import psycopg

    state = error.sqlstate
    if state is not None:
        return _BY_STATE.get(state) or _BY_CLASS.get(state[:2], (StoreFailed, "failed", ""))
    if any(text in str(error).lower() for text in _NOT_LET_IN):
        return _BY_CLASS["28"]
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return _AWAY
    if isinstance(error, psycopg.DataError):
        return _BY_CLASS["22"]
    return (StoreFailed, "failed", "")


GRACE_S = 5.0
"""Additional seconds beyond the time limit of a statement on the server."""


@cache
def connection_with_limit(psycopg: Any) -> type[Any]:
    """Return psycopg's connection class with a limit for each wait, set by :func:`limit_waits`."""

    class LimitedConnection(psycopg.Connection):  # type: ignore[misc]
        """A connection that closes when the server is silent for ``max_wait_s`` seconds."""

        max_wait_s: float | None = None

        def wait(self, gen: Any, *arguments: Any, **keywords: Any) -> Any:
            if self.max_wait_s is not None:
                gen = _with_deadline(self, gen, self.max_wait_s, psycopg.OperationalError)
            return super().wait(gen, *arguments, **keywords)

    return LimitedConnection


def limit_waits(connection: Any, server_s: float) -> None:
    """Limit each wait of a :func:`connection_with_limit`, to slightly more than the server's limit.

    ``server_s`` is the longest time, in seconds, that a valid response may take.
    """
    connection.max_wait_s = server_s + GRACE_S


def _with_deadline(
    connection: Any, gen: Any, max_wait_s: float, failure: type[Exception]
) -> Generator[Any, Any, Any]:
    """Run psycopg's generator; raise ``failure`` when the time is up.

    It yields what it waits for, and receives 0 every tenth of a second when nothing arrived.
    """
    end = time.monotonic() + max_wait_s
    try:
        waits_for = next(gen)
        while True:
            ready = yield waits_for
            if not ready and time.monotonic() > end:
                connection.pgconn.finish()  # the state of the server is unknown
                raise failure(f"the server has not answered for {max_wait_s:g} s")
            waits_for = gen.send(ready)
    except StopIteration as stop:
        return stop.value
