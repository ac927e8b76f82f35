"""The time limit of one answer. It is a last resort: size limits bound the work first."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

DEFAULT_MS = 500
"""An answer takes a tenth of it. The rest is a reserve for busy machines."""

Clock = Callable[[], float]


class BudgetExceeded(Exception):
    """The time limit is exceeded. The answer is discarded."""


class Budget:
    """A time limit in milliseconds that starts now."""

    def __init__(self, milliseconds: int = DEFAULT_MS, clock: Clock = monotonic) -> None:
        self.milliseconds = milliseconds
        self._clock = clock
        self._start = clock()

    def remaining_s(self) -> float:
        """Return the remaining seconds, at least 0.0."""
        return max(0.0, self.milliseconds / 1e3 - (self._clock() - self._start))

    def check(self, step: str) -> None:
        """Raise BudgetExceeded, naming the step, when no time remains."""
        elapsed_ms = (self._clock() - self._start) * 1e3
        if elapsed_ms > self.milliseconds:
            raise BudgetExceeded(f"{step} ended after {elapsed_ms:.0f} ms of {self.milliseconds}")
