"""A progress line on standard error, only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

PATIENCE_S = 0.3
"""Seconds before the first output: shorter jobs print nothing."""
_INTERVAL_S = 0.1


ReportProgress: TypeAlias = Callable[..., None]
"""Takes the number of finished items, the total (None: unknown), and an optional remark."""


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
