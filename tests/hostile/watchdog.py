"""A bound on hangs: a test that would wait for ever fails with a traceback instead."""

from __future__ import annotations

import faulthandler
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tests.hostile.case import HANG_SECONDS

__all__ = ["Hang", "hang_bound"]


class Hang(BaseException):
    """The code under test did not come back. No ``except Exception`` may swallow it."""


@contextmanager
def hang_bound(seconds: int = HANG_SECONDS) -> Iterator[None]:
    """Raise :class:`Hang` in the block after ``seconds``; end the process if C code holds on.

    Only in the main thread, as signals are; where there is no SIGALRM only the second bound holds.
    """
    faulthandler.dump_traceback_later(seconds * 6, exit=True)
    try:
        with _alarm(seconds):
            yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise Hang(f"no answer after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
