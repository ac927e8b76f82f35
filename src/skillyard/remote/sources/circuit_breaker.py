"""A circuit breaker: a remote that has just been silent is not asked for a while.

With room for 32 requests, 80 skills of a host that hangs would take three deadlines in a row.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from skillyard.remote.sources.protocol import SourceFailed

__all__ = ["OPEN_S", "CircuitBreaker"]

OPEN_S = 5.0
"""How long the circuit of a silent origin stays open: the length of one search."""


class CircuitBreaker:
    """When each origin may be asked again that answered nothing for half a deadline."""

    def __init__(self, clock: Callable[[], float], deadline_s: float) -> None:
        self._clock = clock
        self._silence_s = deadline_s / 2
        self._last_answer_at: dict[str, float] = {}
        self._open_until: dict[str, float] = {}

    def check(self, origin: str) -> None:
        """Raise SourceFailed for an origin that has just been silent."""
        if self._clock() < self._open_until.get(origin, 0.0):
            raise SourceFailed("timeout", f"{origin}: not asked, it has just been silent")

    def record(self, origin: str, failure: SourceFailed | None = None) -> None:
        """Record how a request ended.

        An origin is silent when a request timed out and no other one has ended lately: a large
        file that comes slowly says nothing of its host.
        """
        if failure is None or failure.code != "timeout":
            self._last_answer_at[origin] = time.monotonic()
        elif time.monotonic() - self._last_answer_at.get(origin, float("-inf")) > self._silence_s:
            self._open_until[origin] = self._clock() + OPEN_S
