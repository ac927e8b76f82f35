"""A circuit breaker: a remote that timed out is not contacted again for a while.

Without it, 80 skills of a hanging host would take three deadlines at 32 requests at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from skillyard.base.errors import SourceFailed

OPEN_S = 5.0
"""Seconds for which the circuit of an origin stays open: the length of one search."""


class CircuitBreaker:
    """The time at which each origin that timed out may be contacted again."""

    def __init__(self, clock: Callable[[], float], deadline_s: float) -> None:
        self._clock = clock
        self._silence_s = deadline_s / 2
        self._last_answer_at: dict[str, float] = {}
        self._open_until: dict[str, float] = {}

    def check(self, origin: str) -> None:
        """Raise SourceFailed for an origin whose circuit is open."""
        if self._clock() < self._open_until.get(origin, 0.0):
            raise SourceFailed("timeout", f"{origin}: not asked, it has just been silent")

    def record(self, origin: str, failure: SourceFailed | None = None) -> None:
        """Record the outcome of a request.

        The breaker opens when a request timed out and no other request to the origin ended
        recently: one slow large file does not mean that the host is down.
        """
        if failure is None or failure.code != "timeout":
            self._last_answer_at[origin] = time.monotonic()
        elif time.monotonic() - self._last_answer_at.get(origin, float("-inf")) > self._silence_s:
            self._open_until[origin] = self._clock() + OPEN_S
