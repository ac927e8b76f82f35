"""Runs jobs on a few threads, in the order of the list."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

from skillyard.evals.models.protocol import RunStopped

Job: TypeAlias = Callable[[], None]


def run_jobs(jobs: Sequence[Job], concurrency: int, stop: threading.Event) -> RunStopped | None:
    """Run jobs on up to ``concurrency`` threads; return what stopped the run, or None.

    When a job raises RunStopped, or ``stop`` is set, no further job starts. Running jobs finish,
    because their answers are paid for. Any other exception has the same effect and is raised here.
    An interrupt of the waiting thread sets ``stop`` and waits as well; a second interrupt is
    raised. If all jobs had ended by then, the run was not stopped.
    """
    queue = _Queue(jobs, stop)
    ends = [threading.Event() for _ in range(min(concurrency, len(jobs)))]
    for number, end in enumerate(ends):
        threading.Thread(
            target=_work, args=(queue, end), name=f"evals-{number}", daemon=True
        ).start()
    _wait_for_all(ends, queue, stop)
    if queue.failure is not None:
        raise queue.failure
    if queue.stopped is None and stop.is_set() and queue.remaining:
        return RunStopped("interrupted", "the run was interrupted")
    return queue.stopped


def _work(queue: _Queue, end: threading.Event) -> None:
    try:
        queue.work()
    finally:
        end.set()


def _wait_for_all(ends: Sequence[threading.Event], queue: _Queue, stop: threading.Event) -> None:
    # Not Thread.join: up to Python 3.12 an interrupt inside it marks a running thread as ended.
    interrupted = False
    for end in ends:
        while not end.is_set():
            try:
                _wait(end)
            except KeyboardInterrupt:
                # The command line takes the first interrupt itself, and sets ``stop``.
                if interrupted or (stop.is_set() and not queue.has_failed):
                    raise
                interrupted = True
                stop.set()


def _wait(end: threading.Event) -> None:
    end.wait()


class _Queue:
    def __init__(self, jobs: Sequence[Job], stop: threading.Event) -> None:
        self._jobs = iter(jobs)
        self._stop = stop
        self._guard = threading.Lock()
        self.remaining = len(jobs)
        self.stopped: RunStopped | None = None
        self.failure: BaseException | None = None

    @property
    def has_failed(self) -> bool:
        """True when a job stopped the run, by its budget or by an error."""
        return self.stopped is not None or self.failure is not None

    def work(self) -> None:
        while (job := self._next()) is not None:
            try:
                job()
            except RunStopped as stopped:
                with self._guard:
                    self.stopped = self.stopped or stopped
                self._stop.set()
            except BaseException as failure:  # noqa: BLE001 - raised where the run waits
                with self._guard:
                    self.failure = self.failure or failure
                self._stop.set()
            else:
                with self._guard:
                    self.remaining -= 1

    def _next(self) -> Job | None:
        with self._guard:
            return None if self._stop.is_set() else next(self._jobs, None)
