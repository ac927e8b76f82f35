"""A time limit for every wait on a server that hangs without closing its connections.

``statement_timeout`` needs a running server, and TCP keepalive only detects a dead kernel;
neither detects a stopped process, or a proxy that no longer forwards.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from functools import cache
from typing import Any

__all__ = ["GRACE_S", "connection_with_limit", "limit_waits"]

GRACE_S = 5.0
"""What an answer may take beyond the time that the server gives a statement."""


@cache
def connection_with_limit(psycopg: Any) -> type[Any]:
    """Return psycopg's connection with an end to each wait, once :func:`limit_waits` has set it."""

    class LimitedConnection(psycopg.Connection):  # type: ignore[misc]
        """Gives up, and is closed, when the server has not answered for ``max_wait_s`` seconds."""

        max_wait_s: float | None = None

        def wait(self, gen: Any, *arguments: Any, **named: Any) -> Any:
            if self.max_wait_s is not None:
                gen = _bounded(self, gen, self.max_wait_s, psycopg.OperationalError)
            return super().wait(gen, *arguments, **named)

    return LimitedConnection


def limit_waits(connection: Any, server_s: float) -> None:
    """Let each wait on a :func:`connection_with_limit` end, some time after the server's own limit.

    ``server_s`` is the longest, in seconds, that an answer may rightly take.
    """
    connection.max_wait_s = server_s + GRACE_S


def _bounded(
    connection: Any, gen: Any, max_wait_s: float, failure: type[Exception]
) -> Generator[Any, Any, Any]:
    """Go through psycopg's generator; raise ``failure`` when the time is up.

    It yields what it waits for, and is sent 0 every tenth of a second where nothing came.
    """
    end = time.monotonic() + max_wait_s
    try:
        waits_for = next(gen)
        while True:
            ready = yield waits_for
            if not ready and time.monotonic() > end:
                connection.pgconn.finish()  # nobody knows what the server will still do
                raise failure(f"the server has not answered for {max_wait_s:g} s")
            waits_for = gen.send(ready)
    except StopIteration as done:
        return done.value
