"""One line on standard error that says how far a long job is, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from skillyard.cli.console import Console, is_terminal

__all__ = ["progress"]

PATIENCE_S = 0.3
"""A job that ends sooner shows nothing."""
_EVERY_S = 0.1
_CELLS = 24


@contextmanager
def progress(
    what: str, console: Console, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function of (done, total) that keeps the line up to date, or None when unwatched."""
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

    def step(self, done: int, total: int) -> None:
        now = self._clock()
        if now < self._next or not total:
            return
        self._next = now + _EVERY_S
        full = _CELLS * done // total
        text = f"{self._what} [{'#' * full}{'.' * (_CELLS - full)}] {done:,} of {total:,}"
        self._write(f"\r{text}{' ' * (self._shown - len(text))}")
        self._shown = len(text)

    def clear(self) -> None:
        if self._shown:
            self._write(f"\r{' ' * self._shown}\r")

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._next = float("inf")  # nobody watches any more
