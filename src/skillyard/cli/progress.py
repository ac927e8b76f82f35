"""Long jobs: a progress line on standard error, only on a terminal, and interrupts that wait."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

PATIENCE_S = 0.3
"""Seconds before the first output: shorter jobs print nothing."""
_INTERVAL_S = 0.1


class ReportProgress(Protocol):
    """Receives the number of finished items, the total, and an optional remark."""

    def __call__(self, done: int, total: int | None, remark: str = "") -> None:
        """Update the line. ``total`` None: unknown."""


@contextmanager
def progress_line(what: str) -> Iterator[ReportProgress]:
    """Yield a function that updates the line on the terminal."""
    after, shown = time.monotonic() + PATIENCE_S, 0

    def step(done: int, total: int | None, remark: str = "") -> None:
        nonlocal after, shown
        now = time.monotonic()
        if now < after or total == 0:
            return
        after = now + _INTERVAL_S
        text = f"{what} {done:,}" + ("" if total is None else f" of {total:,}")
        text += f"  {remark}" if remark else ""
        _write(f"\r{text}{' ' * (shown - len(text))}")
        shown = len(text)

    try:
        yield step
    finally:
        if shown:
            _write(f"\r{' ' * shown}\r")


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # the terminal is gone


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
