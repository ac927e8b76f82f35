"""Which remotes are silent: what waits for room at one of them need not wait a deadline of its own.

With room for 32 requests, 80 skills of a host that hangs would take three deadlines in a row.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from skillyard.remote.sources.protocol import SourceFailed

__all__ = ["SILENT_S", "Silences"]

SILENT_S = 5.0
"""How long a silent origin is not asked: the length of one search."""


class Silences:
    """When each origin may be asked again that answered nothing for half a deadline."""

    def __init__(self, clock: Callable[[], float], deadline_s: float) -> None:
        self._clock = clock
        self._patience_s = deadline_s / 2
        self._heard: dict[str, float] = {}
        self._until: dict[str, float] = {}

    def check(self, origin: str) -> None:
        """Raise SourceFailed for an origin that has just been silent."""
        if self._clock() < self._until.get(origin, 0.0):
            raise SourceFailed("timeout", f"{origin}: not asked, it has just been silent")

    def note(self, origin: str, failure: SourceFailed | None = None) -> None:
        """Take note of how a request ended.

        An origin is silent when a request timed out and no other one has ended lately: a large
        file that comes slowly says nothing of its host.
        """
        if failure is None or failure.code != "timeout":
            self._heard[origin] = time.monotonic()
        elif time.monotonic() - self._heard.get(origin, float("-inf")) > self._patience_s:
            self._until[origin] = self._clock() + SILENT_S
