"""Interrupts that let a long job complete its current step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """Yield an event that SIGINT or SIGTERM sets, so that the job can end and write its results.

    A second signal interrupts as usual.
    """
    stop = threading.Event()
    received: list[int] = []

    def end(number: int, _: object) -> None:
        stop.set()
        if received:
            raise KeyboardInterrupt
        received.append(number)

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
