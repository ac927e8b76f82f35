"""Synchronous publishing: commit only with a standby, and report when it did not replicate.

PostgreSQL waits for its synchronous standbys inside COMMIT, without a limit, after the commit is
already durable on the primary. Therefore a standby must be connected before the commit. After a
time limit the wait is cancelled; the publish is then on the primary only, and NoStandby is raised.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import NoStandby
from skillyard.store.backends.postgres_statements import WAITED_FOR

if TYPE_CHECKING:
    import psycopg

CANCEL_S = 5.0
"""Time limit for the request that cancels the wait."""


def refuse_without_standby(connection: psycopg.Connection[Any], address: str) -> None:
    """Raise NoStandby unless a standby is connected for which a commit would wait."""
    row = connection.execute(WAITED_FOR.encode()).fetchone()
    assert row is not None
    names, waited_for, hidden, connected = row
    if names and waited_for:
        return
    if names and hidden:
        what, hint = "the login may not see standbys", "let it: GRANT pg_monitor TO the login"
    elif not names:
        what = f"the server waits for no standby ({connected} connected)"
        hint = "set synchronous_standby_names on the server"
    else:
        what, hint = f"no standby of {names!r} is connected", "bring one back"
    raise NoStandby(address, f"{what}, so nothing was published", hint=hint)


def commit_replicated(
    connection: psycopg.Connection[Any], address: str, *, generation: int, wait_s: float
) -> None:
    """Commit, and return when a standby has replayed the commit.

    Raises NoStandby with ``committed=True`` when none has replayed it after ``wait_s`` seconds or
    the server stopped waiting, and psycopg's error when the connection was lost.
    """
    warnings: list[str] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        warnings.append(notice.message_primary or "")

    def cancel() -> None:
        cancelled.set()
        with suppress(Exception):  # the connection is gone, and COMMIT raises the error
            connection.cancel_safe(timeout=CANCEL_S)

    cancelled = threading.Event()
    timer = threading.Timer(wait_s, cancel)
    timer.daemon = True
    connection.add_notice_handler(hear)
    timer.start()
    try:
        connection.execute(b"COMMIT")
    finally:
        timer.cancel()
        timer.join()
        connection.remove_notice_handler(hear)
    if warnings:
        _refuse_unreplicated(address, generation, f"none answered within {wait_s:g} seconds")
    if cancelled.is_set():
        connection.close()  # a late cancel request could hit the next statement on this connection
        return
    row = connection.execute(WAITED_FOR.encode()).fetchone()
    if row is None or not row[0]:
        _refuse_unreplicated(address, generation, "the server no longer waits for any")


def _refuse_unreplicated(address: str, generation: int, why: str) -> None:
    raise NoStandby(
        address,
        f"generation {generation} stands on this server, and no standby is known to have it: {why}",
        hint="it is not lost unless this server is; publish the same again to be told",
        committed=True,
        generation=generation,
    )
