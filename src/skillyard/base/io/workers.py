"""Worker processes, started on demand, with detection of dead ones."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from skillyard.base.errors import SkillyardError
from skillyard.base.io.locks import Closeable

R = TypeVar("R")


class WorkerLost(SkillyardError):
    """A worker process died: it was killed, or memory ran out."""


class Workers(Closeable):
    """``jobs`` worker processes, each a fresh interpreter. With 1 the work runs in this process."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def submit(
        self, work: Callable[..., R], *arguments: object, here: bool = False
    ) -> Callable[[], R]:
        """Start ``work(*arguments)``, and return a function that waits for its result.

        ``here`` runs it in this process, because starting others takes longer than a little work.
        The returned function raises the error of the work, or WorkerLost.
        """
        if self.jobs == 1 or (here and self._pool is None):
            result = work(*arguments)
            return lambda: result
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self.jobs, multiprocessing.get_context("spawn"), initializer=end_with_parent
            )
        try:
            future = self._pool.submit(work, *arguments)
        except BrokenProcessPool:
            raise _worker_loss() from None
        return lambda: _result_of(future)

    def close(self) -> None:
        """Stop the thread or the worker processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _result_of(future: Future[R]) -> R:
    try:
        return future.result()
    except BrokenProcessPool:
        raise _worker_loss() from None


def _worker_loss() -> WorkerLost:
    return WorkerLost(
        "a worker process ended in the middle of its work: it was killed, or there is too little"
        " memory; what was acknowledged stands: run it again, with fewer --jobs"
    )


def end_with_parent() -> None:
    """Initialise a worker: ignore interrupts, which the parent handles, and end with the parent.

    A killed parent sends no signal. The other end of the sentinel is open in the parent alone.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    """End this process when its parent has died."""
    multiprocessing.connection.wait([sentinel])
    os._exit(1)
