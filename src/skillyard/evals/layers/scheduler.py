"""Runs jobs with dependencies on a few threads, in the order of the list."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from skillyard.evals.models.protocol import RunStopped


class Job(NamedTuple):
    """One job. Among the jobs that are ready, the first of the list starts first.

    ``after`` holds the indices of the jobs that must have ended before. They precede it in the
    list.
    """

    work: Callable[[], None]
    after: tuple[int, ...] = ()


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
                queue.end()


def _wait(end: threading.Event) -> None:
    end.wait()


class _Queue:
    def __init__(self, jobs: Sequence[Job], stop: threading.Event) -> None:
        self._jobs = jobs
        self._stop = stop
        self._condition = threading.Condition()
        self._open_dependencies = [len(job.after) for job in jobs]
        self._dependents: list[list[int]] = [[] for _ in jobs]
        for place, job in enumerate(jobs):
            for earlier in job.after:
                self._dependents[earlier].append(place)
        self._ready = [place for place, count in enumerate(self._open_dependencies) if not count]
        self.remaining = len(jobs)
        self.stopped: RunStopped | None = None
        self.failure: BaseException | None = None

    @property
    def has_failed(self) -> bool:
        """True when a job stopped the run, by its budget or by an error."""
        return self.stopped is not None or self.failure is not None

    def work(self) -> None:
        while (place := self._next()) is not None:
            try:
                self._jobs[place].work()
            except RunStopped as stopped:
                with self._condition:
                    self.stopped = self.stopped or stopped
                self.end()
            except BaseException as failure:  # noqa: BLE001 - raised where the run waits
                with self._condition:
                    self.failure = self.failure or failure
                self.end()
            else:
                self._finish(place)

    def end(self) -> None:
        """Let no further job begin."""
        self._stop.set()
        with self._condition:
            self._condition.notify_all()

    def _next(self) -> int | None:
        with self._condition:
            while not self._ready and self.remaining and not self._stop.is_set():
                self._condition.wait()
            if self._stop.is_set() or not self._ready:
                return None
            return heapq.heappop(self._ready)

    def _finish(self, place: int) -> None:
        with self._condition:
            self.remaining -= 1
            for dependent in self._dependents[place]:
                self._open_dependencies[dependent] -= 1
                if not self._open_dependencies[dependent]:
                    heapq.heappush(self._ready, dependent)
            self._condition.notify_all()
