"""A progress line on standard error: done, rate and time left. Only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from skillyard.cli.console import Console, is_terminal

if TYPE_CHECKING:
    from skillyard.cli.pace import Rate

PATIENCE_S = 0.3
"""Seconds before the first output: shorter jobs print nothing."""
_INTERVAL_S = 0.1
_CELLS = 24


class ReportProgress(Protocol):
    """Receives the number of finished items, the total, and an optional remark."""

    def __call__(self, done: int, total: int | None, remark: str = "") -> None:
        """Update the line. ``total`` None: unknown."""


@contextmanager
def progress(
    what: str, console: Console, clock: Callable[[], float] = time.monotonic
) -> Iterator[ReportProgress | None]:
    """Yield a function that updates the line; None without a terminal."""
    if console.quiet or sys.stderr is None or not is_terminal(sys.stderr):
        yield None
        return
    bar = _Bar(what, clock)
    try:
        yield bar.step
    finally:
        bar.clear()


class _Bar:
    def __init__(self, what: str, clock: Callable[[], float]) -> None:
        self._what = what
        self._clock = clock
        self._next = clock() + PATIENCE_S
        self._shown = 0
        self._rate: Rate | None = None

    def step(self, done: int, total: int | None, remark: str = "") -> None:
        """Update the line; without a remark it shows the rate."""
        now = self._clock()
        if now < self._next or total == 0:
            return
        if not remark and total is not None:
            remark = self._pace(now, done, total)
        self._next = now + _INTERVAL_S
        text = f"{self._what} {done:,}"
        if total is not None:
            full = min(_CELLS, _CELLS * done // total)
            text = f"{self._what} [{'#' * full}{'.' * (_CELLS - full)}] {done:,} of {total:,}"
        text += f"  {remark}" if remark else ""
        self._write(f"\r{text}{' ' * (self._shown - len(text))}")
        self._shown = len(text)

    def _pace(self, now: float, done: int, total: int) -> str:
        from skillyard.cli.pace import Rate, duration  # most jobs end before they show anything

        if self._rate is None:
            self._rate = Rate(now, done)
        rate = self._rate.update(now, done)
        return f"{rate:,.0f}/s, {duration((total - done) / rate)} left" if rate >= 1 else ""

    def clear(self) -> None:
        if self._shown:
            self._write(f"\r{' ' * self._shown}\r")

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._next = float("inf")  # the terminal is gone
