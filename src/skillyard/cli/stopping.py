"""An interrupt that lets a long job end well."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["stopping"]


@contextmanager
def stopping(stop: threading.Event) -> Iterator[None]:
    """Let an interrupt or a termination set ``stop``: what was done is kept, and written down.

    A second one is an interrupt as everywhere else.
    """
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
    except ValueError:  # not the main thread: whoever started us stops us
        yield
        return
    try:
        yield
    finally:
        for ended, handler in before.items():
            signal.signal(ended, handler)
