"""A time limit for every wait on a server that hangs without closing its connections.

``statement_timeout`` needs a running server, and TCP keepalive only detects a dead kernel. Neither
detects a stopped process, or a proxy that no longer forwards.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from functools import cache
from typing import Any

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
