"""The common part of L3 and L4: routes every request in every run, and fills the common fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from skillyard.evals.layers.router import Routed
from skillyard.evals.layers.scheduler import Job

__all__ = ["RoutingRun", "RoutingTask", "result_fields", "rounded"]

_DIGITS = 6


class RoutingTask(NamedTuple):
    """One request of a run."""

    empty_case: Callable[[int], dict[str, Any]]
    """Returns the case of the run with that index before it was routed."""
    route: Callable[[int], dict[str, Any]]
    """Routes the request and returns the fields of the result."""


class RoutingRun:
    """The jobs of a run, and its cases after they have ended. All requests of a run come first."""

    def __init__(
        self,
        tasks: Sequence[RoutingTask],
        *,
        runs: int = 1,
        on_case: Callable[[dict[str, Any]], None] = lambda case: None,
    ) -> None:
        self._tasks = tasks
        self._runs = runs
        self._on_case = on_case
        self._cases: dict[tuple[int, int], dict[str, Any]] = {}

    def jobs(self) -> list[Job]:
        """Return the jobs, in the order in which they should start."""
        return [
            Job(partial(self._route, place, run))
            for run in range(self._runs)
            for place in range(len(self._tasks))
        ]

    def cases(self, skipped: str) -> list[dict[str, Any]]:
        """Return every case. ``skipped`` is the reason in the cases that were not routed."""
        return [
            self._cases.get((run, place)) or {**task.empty_case(run), "skipped": skipped}
            for run in range(self._runs)
            for place, task in enumerate(self._tasks)
        ]

    def _route(self, place: int, run: int) -> None:
        task = self._tasks[place]
        case = {**task.empty_case(run), **task.route(run)}
        self._cases[run, place] = case
        self._on_case(case)


def result_fields(routed: Routed) -> dict[str, Any]:
    """Return the fields of a case that follow from the router's result, with its error if any."""
    fields: dict[str, Any] = {
        "picked": list(routed.picked),
        "dropped": list(routed.dropped),
        "fallback": routed.fallback,
        "confidence": routed.confidence,
        "cost": routed.cost,
        "generations": list(routed.generations),
        "input_tokens": routed.input_tokens,
    }
    if routed.error:
        kind = "missing" if routed.missing else "generation_error"
        fields["errors"] = [{"kind": kind, "message": routed.error}]
    return fields


def rounded(value: float) -> float:
    """Return a figure of the results, rounded."""
    return round(value, _DIGITS)
