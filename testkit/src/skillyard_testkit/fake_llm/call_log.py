"""The log of API calls, how many were in flight together, and for how long."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, NamedTuple

__all__ = ["CallLog", "LoggedCall"]


class LoggedCall(NamedTuple):
    """One request, as the server received it."""

    api: str
    """``anthropic``, ``openai`` or ``other``."""
    kind: str
    """``generation``, ``judge``, ``router``, ``findings`` or ``count``; empty for an
    invalid one."""
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]
    """The JSON object; empty where the body was not one."""
    status: int
    """Of the response; 0 where the connection hung or was reset."""


class CallLog:
    """Calls in the order of their responses, and how busy the server was. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._calls: list[LoggedCall] = []
        self._in_flight = 0
        self._max_in_flight = 0
        self._busy_s = 0.0

    def begin(self) -> float:
        """Record that a request arrived; return the time, for :meth:`end`."""
        now = self._clock()
        with self._lock:
            self._in_flight += 1
            self._max_in_flight = max(self._max_in_flight, self._in_flight)
        return now

    def end(self, began: float, call: LoggedCall) -> None:
        """Record the response to the request that began then."""
        now = self._clock()
        with self._lock:
            self._in_flight -= 1
            self._busy_s += now - began
            self._calls.append(call)

    @property
    def calls(self) -> list[LoggedCall]:
        """A copy of the list so far."""
        with self._lock:
            return list(self._calls)

    def clear(self) -> None:
        """Remove all calls and reset the figures; requests in flight still count."""
        with self._lock:
            self._calls.clear()
            self._max_in_flight = self._in_flight
            self._busy_s = 0.0

    @property
    def figures(self) -> dict[str, float]:
        """Calls, the largest number in flight, and the sum of all their times in seconds.

        ``busy_s`` over wall time and a limit of concurrency is the share of the limit in use.
        """
        with self._lock:
            return {
                "requests": len(self._calls),
                "in_flight": self._in_flight,
                "most_in_flight": self._max_in_flight,
                "busy_s": round(self._busy_s, 6),
            }
