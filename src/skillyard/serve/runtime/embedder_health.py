"""Whether the embedder of the default scorer can be used now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from skillyard.base.errors import EmbedderFailed
from skillyard.serve.runtime.logging import Log

EMBEDDER_FAILED = "embedder_failed"
EMBEDDER_SLOW = "embedder_slow"
SLOW_S = 5.0
"""Seconds after which an answer counts as a failure: a request should not wait longer."""
RETRY_S = 60.0
"""Seconds between a failed attempt and the next one."""


class EmbedderHealth:
    """A circuit breaker: after a failure, the embedder is left alone for :data:`RETRY_S`."""

    def __init__(self, log: Log, clock: Callable[[], float] = time.monotonic) -> None:
        self.failure = ""
        """``embedder_failed``, ``embedder_slow`` or the type of another error; empty without."""
        self._log = log
        self._clock = clock
        self._retry_at = float("-inf")

    @property
    def retry_in_s(self) -> float | None:
        """Seconds until the next attempt; 0.0 when it is due; None without a failure."""
        return max(0.0, self._retry_at - self._clock()) if self.failure else None

    @contextmanager
    def request(self) -> Iterator[None]:
        """Record how the embedder does at a request. Lets EmbedderFailed pass."""
        began = self._clock()
        try:
            yield
        except EmbedderFailed as error:
            # What another package says may repeat the request, which is not logged.
            self.fail(error, f"{type(error).__name__} of {error.embedder}")
            raise
        if self._clock() - began > SLOW_S:
            self.fail(None, f"the embedder needed more than {SLOW_S:g} s for one text")
        else:
            self.failure = ""

    def fail(self, error: Exception | None, message: str) -> None:
        """Record a failure; None: an answer that took too long."""
        failure = EMBEDDER_SLOW if error is None else type(error).__name__
        if isinstance(error, EmbedderFailed):
            failure = EMBEDDER_FAILED
        self._retry_at = self._clock() + RETRY_S
        if failure != self.failure:
            self._log.write("vectors", "error", error=message)
        self.failure = failure
