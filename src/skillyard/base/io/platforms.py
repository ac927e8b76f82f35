"""What differs between systems: pipes, signals, descriptors, and files that are mapped."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput

if TYPE_CHECKING:
    import threading

MAPPED_FILES_CAN_BE_REPLACED = sys.platform != "win32"
"""False where a file that is mapped into memory cannot be replaced or removed."""


def refuse_windows(what: str, instead: str) -> None:
    """Raise InvalidInput on Windows: ``what`` (a plural) does not work there; ``instead`` does."""
    if sys.platform == "win32":
        raise InvalidInput(f"{what} do not work on Windows; {instead}")


DESCRIPTORS = 65_536
"""As many as a service needs at the most. The hard limit may be in the millions, and whatever goes
through all descriptors of a process takes that long then."""


if sys.platform == "win32":

    def raise_descriptor_limit() -> int:
        """Return a number: on Windows neither files nor sockets are numbered within a limit."""
        return DESCRIPTORS

else:

    def raise_descriptor_limit() -> int:
        """Raise the soft limit to the hard one, up to :data:`DESCRIPTORS`; return what it is then.

        Where the system refuses, as a filter of system calls does, it stays as it is.
        """
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        target = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
        if soft == resource.RLIM_INFINITY or soft >= target:
            return DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
        except (OSError, ValueError):  # macOS has a limit of its own below an infinite one
            return soft
        return target


def read_within(descriptor: int, size: int, seconds: float) -> bytes | None:
    """Return at most ``size`` bytes as soon as there are any, empty at the end of the stream.

    None when nothing has come within ``seconds``. Windows cannot wait for a pipe with a time limit:
    a thread reads there, and goes on waiting when the time is over. Raises OSError.
    """
    if sys.platform == "win32":
        return _read_by_thread(descriptor, size, seconds)
    from select import select

    return os.read(descriptor, size) if select([descriptor], [], [], seconds)[0] else None


def _read_by_thread(descriptor: int, size: int, seconds: float) -> bytes | None:
    from threading import Thread

    chunks: list[bytes] = []
    errors: list[OSError] = []

    def read() -> None:
        try:
            chunks.append(os.read(descriptor, size))
        except OSError as error:
            errors.append(error)

    reader = Thread(target=read, daemon=True)
    reader.start()
    reader.join(seconds)
    if errors:
        raise errors[0]
    return chunks[0] if chunks else None


ENDING = (signal.SIGTERM, signal.SIGINT)
"""The signals that ask a process to end, on every system."""


@contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """Yield an event that SIGINT or SIGTERM sets, so that the job can end and write its results.

    A second signal interrupts as usual.
    """
    import threading

    stop = threading.Event()

    def end(number: int, _: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {}
    try:
        for number in ENDING:
            before[number] = signal.signal(number, end)
    except ValueError:  # not the main thread: its owner stops it
        yield stop
        return
    try:
        yield stop
    finally:
        for ended, handler in before.items():
            signal.signal(ended, handler)


@contextmanager
def on_signals(callback: Callable[[], object]) -> Iterator[None]:
    """Call back in the running loop when a signal asks the process to end.

    Afterwards these signals have their default effect. Windows loops take no signal handlers, so
    there the handler of the process hands the call to the loop.
    """
    import asyncio  # deferred: a hook and a query have no loop

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
