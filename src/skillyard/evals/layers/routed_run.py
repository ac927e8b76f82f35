"""The work of a layer that routes requests: every case once in each run, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from skillyard.evals.layers.scheduling import Job

__all__ = ["OnCase", "RoutedRun"]

Item = TypeVar("Item")
OnCase = Callable[[dict[str, Any]], None]


class RoutedRun(Generic[Item]):
    """The jobs of some runs, and the outcome of each item once they have ended.

    Runs go outermost. ``head`` gives what an outcome says of an item that was not routed, ``route``
    what routing it adds; ``on_case`` is called with each outcome.
    """

    def __init__(
        self,
        items: Sequence[Item],
        head: Callable[[Item, int], dict[str, Any]],
        route: Callable[[Item, int], dict[str, Any]],
        *,
        runs: int,
        on_case: OnCase,
    ) -> None:
        self._items = items
        self._head = head
        self._route = route
        self._runs = runs
        self._on_case = on_case
        self._outcomes: dict[tuple[int, int], dict[str, Any]] = {}

    def jobs(self) -> list[Job]:
        """Return the work, in the order in which it should begin."""
        return [
            Job(partial(self._work, position, run))
            for run in range(self._runs)
            for position in range(len(self._items))
        ]

    def cases(self, skipped: str) -> list[dict[str, Any]]:
        """Return every outcome; an item that was not routed says why: ``skipped``."""
        return [
            self._outcomes.get((run, position)) or {**self._head(item, run), "skipped": skipped}
            for run in range(self._runs)
            for position, item in enumerate(self._items)
        ]

    def _work(self, position: int, run: int) -> None:
        item = self._items[position]
        outcome = {**self._head(item, run), **self._route(item, run)}
        self._outcomes[run, position] = outcome
        self._on_case(outcome)
