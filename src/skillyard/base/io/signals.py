"""Signals while an event loop runs."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ENDING = (signal.SIGTERM, signal.SIGINT)
"""The signals that ask a process to end, on every system."""


@contextmanager
def on_signals(callback: Callable[[], object]) -> Iterator[None]:
    """Call back in the running loop when a signal asks the process to end.

    Afterwards these signals have their default effect. Windows loops take no signal handlers, so
    there the handler of the process hands the call to the loop.
    """
    loop = asyncio.get_running_loop()
    for number in ENDING:
        try:
            loop.add_signal_handler(number, callback)
        except NotImplementedError:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(callback))
    try:
        yield
    finally:
        for number in ENDING:
            try:
                loop.remove_signal_handler(number)
            except NotImplementedError:
                pass
            signal.signal(number, signal.SIG_DFL)
