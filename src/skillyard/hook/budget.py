"""The time that one answer may take: a last check, since sizes bound the work before it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

__all__ = ["DEFAULT_MS", "Breach", "Budget"]

DEFAULT_MS = 500
"""An answer takes a tenth of it; the rest is for machines that have other things to do."""

Clock = Callable[[], float]


class Breach(Exception):
    """The time is used up; what is there by then is thrown away."""


class Budget:
    """What is left of some milliseconds from now on."""

    def __init__(self, milliseconds: int = DEFAULT_MS, clock: Clock = monotonic) -> None:
        self.milliseconds = milliseconds
        self._clock = clock
        self._start = clock()

    def left_s(self) -> float:
        """Return the seconds that are left, 0.0 when none are."""
        return max(0.0, self.milliseconds / 1e3 - (self._clock() - self._start))

    def check(self, step: str) -> None:
        """Go on when there is time left. Raises Breach, which names the step that took the rest."""
        spent = (self._clock() - self._start) * 1e3
        if spent > self.milliseconds:
            raise Breach(f"{step} ended after {spent:.0f} ms of {self.milliseconds}")
