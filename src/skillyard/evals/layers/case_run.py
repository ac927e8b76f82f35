"""A run in which each case is one job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from skillyard.evals.layers.protocol import OnCase
from skillyard.evals.layers.scheduler import Job
from skillyard.evals.layers.work import CaseResult


class CaseTask(NamedTuple):
    """One case of a run."""

    head: dict[str, Any]
    """The fields of the case that are known before, and those that stay empty where it fails."""
    answer: Callable[[int], dict[str, Any]]
    """Works on the case in the run with that index, and returns the other fields."""


class CaseRun:
    """The jobs of a run, and its cases after they have ended. All cases of a run come first."""

    def __init__(
        self, tasks: Sequence[CaseTask], *, runs: int = 1, on_case: OnCase = lambda case: None
    ) -> None:
        self._tasks = tasks
        self._runs = runs
        self._on_case = on_case
        self._cases: dict[tuple[int, int], CaseResult] = {}

    def jobs(self) -> list[Job]:
        """Return the jobs, in the order in which they should start."""
        return [
            Job(partial(self._work, place, run))
            for run in range(self._runs)
            for place in range(len(self._tasks))
        ]

    def cases(self, skipped: str) -> list[CaseResult]:
        """Return every case. ``skipped`` is the reason in the cases that were not reached."""
        return [
            self._cases.get((run, place)) or {**_empty_case(task, run), "skipped": skipped}
            for run in range(self._runs)
            for place, task in enumerate(self._tasks)
        ]

    def _work(self, place: int, run: int) -> None:
        task = self._tasks[place]
        case = {**_empty_case(task, run), **task.answer(run)}
        self._cases[run, place] = case
        self._on_case(case)


def _empty_case(task: CaseTask, run: int) -> CaseResult:
    return {**task.head, "run_index": run, "cost": 0.0, "errors": [], "skipped": None}
