"""Decides whether the default scorer's embedder is used now, or skipped after a failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from skillyard.base.errors import EmbedderFailed
from skillyard.serve.runtime.logging import Log

EMBEDDER_FAILED = "embedder_failed"
EMBEDDER_SLOW = "embedder_slow"
SLOW_S = 5.0
"""Seconds after which an answer counts as a failure: a request should not wait longer."""
RETRY_S = 60.0
"""Seconds between a failed attempt and the next one."""
_SLOW = f"the embedder needed more than {SLOW_S:g} s for one text"


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
        self._has_failed = False
        """True when it failed since the last request that it answered."""
        self._retry_at = float("-inf")

    @property
    def retry_in_s(self) -> float | None:
        """Seconds until the next attempt; 0.0 when it is due or runs; None without a failure."""
        return max(0.0, self._retry_at - self._clock()) if self.failure else None

    @contextmanager
    def request(self) -> Iterator[None]:
        """Record how the embedder does at a request. Lets EmbedderFailed pass."""
        began = self._clock()
        try:
            yield
        except EmbedderFailed as error:
            # What another package says may repeat the request, which is not logged.
            self._fail(EMBEDDER_FAILED, f"{type(error).__name__} of {error.embedder}", request=True)
            raise
        if self._clock() - began > SLOW_S:
            self._fail(EMBEDDER_SLOW, _SLOW, request=True)
        elif not self.failure:
            self._has_failed = False

    def record_attempt(self, error: Exception | None, seconds: float = 0.0) -> None:
        """Record how an attempt outside of requests ended. ``seconds``: what one text took."""
        if error is not None:
            kind = type(error).__name__
            failure = EMBEDDER_FAILED if isinstance(error, EmbedderFailed) else kind
            self._fail(failure, f"{kind}: {error}")
        elif seconds > SLOW_S:
            self._fail(EMBEDDER_SLOW, _SLOW)
        else:
            self.failure = ""

    def _fail(self, failure: str, message: str, *, request: bool = False) -> None:
        with self._lock:
            if request and self.failure:  # others had begun before the first one failed
                return
            is_new = failure != self.failure
            pause = 0.0 if request and not self._has_failed else RETRY_S
            self._retry_at = self._clock() + pause
            self._has_failed = True
            self.failure = failure
        if is_new:
            self._log.write("vectors", "error", error=message)
        if request:
            self._on_failure()
