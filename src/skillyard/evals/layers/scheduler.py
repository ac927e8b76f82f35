"""Jobs that wait for others, on a few threads, begun in the order in which they are listed."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from skillyard.evals.models.run_stop import RunStopped

__all__ = ["Job", "run_jobs"]


class Job(NamedTuple):
    """One piece of work. Its place in the list is its rank: of all that may begin, the first does.

    ``after`` holds the places of jobs that must have ended before; they stand before it.
    """

    work: Callable[[], None]
    after: tuple[int, ...] = ()


def run_jobs(jobs: Sequence[Job], concurrency: int, stop: threading.Event) -> RunStopped | None:
    """Run jobs on up to ``concurrency`` threads; return what stopped the run, or None.

    When a job raises RunStopped, or ``stop`` is set, no further job begins and those that run
    come to their end: their answers are paid for. Any other exception does the same and is raised
    here. An interrupt of the waiting thread sets ``stop`` and waits as well; a second one is
    raised. A run all of whose jobs had ended by then was not stopped.
    """
    queue = _Queue(jobs, stop)
    threads = [
        threading.Thread(target=queue.work, name=f"evals-{number}", daemon=True)
        for number in range(min(concurrency, len(jobs)))
    ]
    for thread in threads:
        thread.start()
    _joined(threads, queue)
    if queue.failed is not None:
        raise queue.failed
    if queue.stopped is None and stop.is_set() and queue.left:
        return RunStopped("interrupted", "the run was interrupted")
    return queue.stopped


def _joined(threads: Sequence[threading.Thread], queue: _Queue) -> None:
    interrupted = False
    for thread in threads:
        while thread.is_alive():
            try:
                thread.join()
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                queue.end()


class _Queue:
    def __init__(self, jobs: Sequence[Job], stop: threading.Event) -> None:
        self._jobs = jobs
        self._stop = stop
        self._changed = threading.Condition()
        self._waits = [len(job.after) for job in jobs]
        self._behind: list[list[int]] = [[] for _ in jobs]
        for place, job in enumerate(jobs):
            for earlier in job.after:
                self._behind[earlier].append(place)
        self._ready = [place for place, count in enumerate(self._waits) if not count]
        self.left = len(jobs)
        self.stopped: RunStopped | None = None
        self.failed: BaseException | None = None

    def work(self) -> None:
        while (place := self._next()) is not None:
            try:
                self._jobs[place].work()
            except RunStopped as stopped:
                with self._changed:
                    self.stopped = self.stopped or stopped
                self.end()
            except BaseException as failed:  # noqa: BLE001 - raised where the run waits
                with self._changed:
                    self.failed = self.failed or failed
                self.end()
            else:
                self._ended(place)

    def end(self) -> None:
        """Let no further job begin."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()

    def _next(self) -> int | None:
        with self._changed:
            while not self._ready and self.left and not self._stop.is_set():
                self._changed.wait()
            if self._stop.is_set() or not self._ready:
                return None
            return heapq.heappop(self._ready)

    def _ended(self, place: int) -> None:
        with self._changed:
            self.left -= 1
            for behind in self._behind[place]:
                self._waits[behind] -= 1
                if not self._waits[behind]:
                    heapq.heappush(self._ready, behind)
            self._changed.notify_all()
