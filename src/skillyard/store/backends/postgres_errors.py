"""Maps PostgreSQL's errors to the store's errors, without credentials."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from skillyard.base.errors import StoreFailed, StoreRefused, StoreSchema, StoreUnavailable

if TYPE_CHECKING:
    import psycopg

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
