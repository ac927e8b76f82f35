"""Long jobs: a progress line on standard error, only on a terminal, and interrupts that wait."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

PATIENCE_S = 0.3
"""Seconds before the first output: shorter jobs print nothing."""
_INTERVAL_S = 0.1
_CELLS = 24


class ReportProgress(Protocol):
    """Receives the number of finished items, the total, and an optional remark."""

    def __call__(self, done: int, total: int | None, remark: str = "") -> None:
        """Update the line. ``total`` None: unknown."""


@contextmanager
def progress_line(what: str, clock: Callable[[], float] | None = None) -> Iterator[ReportProgress]:
    """Yield a function that updates the line on the terminal."""
    bar = _Bar(what, clock or time.monotonic)
    try:
        yield bar.step
    finally:
        if bar.shown:
            bar.write(f"\r{' ' * bar.shown}\r")


class _Bar:
    def __init__(self, what: str, clock: Callable[[], float]) -> None:
        self._what = what
        self._clock = clock
        self._next = clock() + PATIENCE_S
        self.shown = 0
        self._first: tuple[float, int] | None = None

    def step(self, done: int, total: int | None, remark: str = "") -> None:
        """Update the line; without a remark it shows the rate."""
        now = self._clock()
        if now < self._next or total == 0:
            return
        self._next = now + _INTERVAL_S
        text = f"{self._what} {done:,}"
        if total is not None:
            full = min(_CELLS, _CELLS * done // total)
            text = f"{self._what} [{'#' * full}{'.' * (_CELLS - full)}] {done:,} of {total:,}"
            remark = remark or self._pace(now, done, total)
        text += f"  {remark}" if remark else ""
        self.write(f"\r{text}{' ' * (self.shown - len(text))}")
        self.shown = len(text)

    def _pace(self, now: float, done: int, total: int) -> str:
        """Return items per second since the line is shown, and the time that is left."""
        if self._first is None or done < self._first[1]:
            self._first = now, done
        began, before = self._first
        rate = (done - before) / (now - began) if now > began else 0.0
        return f"{rate:,.0f}/s, {duration((total - done) / rate)} left" if rate >= 1 else ""

    def write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._next = float("inf")  # the terminal is gone


def duration(seconds: float) -> str:
    """Return a time in words: ``1 h 05 min``, ``2 min 07 s``, ``9 s``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


@contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """Yield an event that SIGINT or SIGTERM sets, so that the job can end and write its results.

    A second signal interrupts as usual.
    """
    stop = threading.Event()

    def end(number: int, _: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before: dict[int, Any] = {}
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            before[number] = signal.signal(number, end)
    except ValueError:  # not the main thread: its owner stops it
        yield stop
        return
    try:
        yield stop
    finally:
        for ended, handler in before.items():
            signal.signal(ended, handler)
