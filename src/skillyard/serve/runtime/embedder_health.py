"""Decides whether the default scorer's embedder is used now, or skipped after a failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from threading import Lock

from skillyard.base.errors import EmbedderFailed
from skillyard.serve.runtime.logging import Log

EMBEDDER_FAILED = "embedder_failed"
EMBEDDER_SLOW = "embedder_slow"
SLOW_S = 5.0
"""Seconds after which an answer counts as a failure: a request should not wait longer."""
FIRST_PAUSE_S = 15.0
"""Seconds between a failed attempt and the next one. They double with each further failure."""
MAX_PAUSE_S = 300.0


class EmbedderHealth:
    """The last failure of an embedder, and the time of the next attempt. Thread-safe.

    After a failure no request asks the embedder; the thread of the vectors tries it again. The
    first failure at a request may be due to its text, so the next attempt is due at once.
    """

    def __init__(
        self,
        log: Log,
        clock: Callable[[], float] = time.monotonic,
        on_failure: Callable[[], object] = lambda: None,
    ) -> None:
        """``on_failure`` is called after each failure at a request, in its thread."""
        self.failure = ""
        """``embedder_failed``, ``embedder_slow`` or the type of another error; empty without."""
        self._log = log
        self._clock = clock
        self._on_failure = on_failure
        self._lock = Lock()
        self._number = count()
        self._running: dict[int, float] = {}
        """When the requests began that wait for the embedder, by number."""
        self._failures = 0
        """Failures since the last request that the embedder answered."""
        self._retry_at = float("-inf")

    @property
    def retry_in_s(self) -> float | None:
        """Seconds until the next attempt; 0.0 when it is due or runs; None without a failure."""
        return max(0.0, self._retry_at - self._clock()) if self.failure else None

    def is_usable(self) -> bool:
        """Return False after a failure, and when a request has waited for :data:`SLOW_S`."""
        with self._lock:
            is_slow = min(self._running.values(), default=self._clock()) < self._clock() - SLOW_S
            if is_slow:  # counted once
                self._running.clear()
        if is_slow:
            self._fail_request(EMBEDDER_SLOW, _slow())
        return not self.failure

    @contextmanager
    def request(self) -> Iterator[None]:
        """Record how the embedder does at a request. Lets EmbedderFailed pass."""
        number, began = next(self._number), self._clock()
        with self._lock:
            self._running[number] = began
        try:
            yield
        except EmbedderFailed as error:
            # What another package says may repeat the request, which is not logged.
            self._fail_request(EMBEDDER_FAILED, f"{type(error).__name__} of {error.embedder}")
            raise
        else:
            self._end_request(self._clock() - began)
        finally:
            with self._lock:
                self._running.pop(number, None)

    def _end_request(self, seconds: float) -> None:
        if seconds > SLOW_S:
            self._fail_request(EMBEDDER_SLOW, _slow())
        elif not self.failure:
            self._failures = 0

    def _fail_request(self, failure: str, message: str) -> None:
        with self._lock:
            if self.failure:  # others had begun before the first one failed
                return
            self._fail(failure, 0.0 if not self._failures else self._pause_s())
        self._log.write("vectors", "error", error=message)
        self._on_failure()

    def record_attempt(self, error: Exception | None, seconds: float = 0.0) -> None:
        """Record how an attempt outside of requests ended. ``seconds``: what one text took."""
        if error is None and seconds <= SLOW_S:
            self.failure = ""
            return
        failure, message = EMBEDDER_SLOW, _slow()
        if error is not None:
            known = isinstance(error, EmbedderFailed)
            failure = EMBEDDER_FAILED if known else type(error).__name__
            message = f"{type(error).__name__}: {error}"
        with self._lock:
            is_new = failure != self.failure
            self._fail(failure, self._pause_s())
        if is_new:
            self._log.write("vectors", "error", error=message)

    def _fail(self, failure: str, pause_s: float) -> None:
        self._failures += 1
        self._retry_at = self._clock() + pause_s
        self.failure = failure

    def _pause_s(self) -> float:
        doublings = min(max(self._failures - 1, 0), 16)
        return min(FIRST_PAUSE_S * (1 << doublings), MAX_PAUSE_S)


def _slow() -> str:
    return f"the embedder needed more than {SLOW_S:g} s for one text"
