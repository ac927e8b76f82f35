"""The rate of a long job and the time that is left."""

from __future__ import annotations

from collections import deque

WINDOW_S = 30.0
"""Seconds over which the rate is measured, so that items skipped at the start do not count."""
_SAMPLES = 120


class Rate:
    """Items per second, over the last half minute."""

    def __init__(self, began: float, done: int = 0) -> None:
        self._samples: deque[tuple[float, int]] = deque([(began, done)], _SAMPLES)

    def update(self, now: float, done: int) -> float:
        """Return items per second when ``done`` are finished at ``now``; 0 before it is known."""
        while len(self._samples) > 1 and self._samples[0][0] < now - WINDOW_S:
            self._samples.popleft()
        then, before = self._samples[0]
        if now - self._samples[-1][0] >= WINDOW_S / _SAMPLES:
            self._samples.append((now, done))
        return max(0.0, (done - before) / (now - then)) if now > then else 0.0


def duration(seconds: float) -> str:
    """Return a time in words: ``1 h 05 min``, ``2 min 07 s``, ``9 s``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
