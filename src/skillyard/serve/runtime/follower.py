"""The protocol of followers, which have the newest view of a library."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from skillyard.base.shapes.service import StoreState
from skillyard.engine.index.library_summary import Progress
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.snapshot import Snapshot
from skillyard.serve.runtime.vectors import VectorThread
from skillyard.serve.runtime.view import Change, View


class Follower(ABC):
    """Follows a library and has its newest view. Belongs to one event loop."""

    def __init__(self, log: Log, clock: Callable[[], float] = time.monotonic) -> None:
        """Raises InvalidInput when the default scorer cannot be used."""
        self._log = log
        self.vectors = VectorThread(log, clock)
        self._view: View | None = None
        self._listeners: list[Callable[[Change], None]] = []
        self._announcing = asyncio.Lock()
        self.reloads = 0
        """Number of times that the skills changed."""

    @property
    def view(self) -> View | None:
        """The newest view; None before the first."""
        return self._view

    @property
    def snapshot(self) -> Snapshot | None:
        """The snapshot of the newest view; None before the first."""
        return None if self._view is None else self._view.snapshot

    def listen(self, listener: Callable[[Change], None]) -> None:
        """Call ``listener`` on the loop with the changes of each further view."""
        self._listeners.append(listener)

    async def _announce(self, before: View | None, after: View) -> None:
        """Send the changes of a view to the listeners. Raises the errors of the comparison."""
        if before is None or before.digest == after.digest or not self._listeners:
            return
        async with self._announcing:
            change = await asyncio.to_thread(Change.between, before, after)
            for listener in self._listeners:
                listener(change)

    @abstractmethod
    async def current(self) -> View:
        """Return the newest view, and start a refresh when it is due. Raises Refused (503)."""

    async def fresh(self) -> View:
        """Return a view with all changes up to a second ago. Raises Refused (503)."""
        return await self.current()

    @abstractmethod
    def refresh(self) -> asyncio.Task[None]:
        """Start a refresh, or return the running one."""

    @abstractmethod
    def refresh_if_due(self) -> asyncio.Task[None] | None:
        """Start a refresh if one is due; return the running one, if any."""

    async def keep_fresh(self) -> None:
        """Refresh periodically until cancelled, unless changes are pushed."""
        self.refresh()

    @property
    @abstractmethod
    def failure(self) -> str:
        """The kind of error of the last refresh; empty when it succeeded."""

    @property
    def building(self) -> Progress | None:
        """The progress of an index that must be built before the first view; None otherwise."""
        return None

    @property
    def ready(self) -> bool:
        """True when requests can be answered with sufficiently fresh data."""
        return self._view is not None

    @property
    def store_state(self) -> StoreState | None:
        """The state of the node in relation to its store; None for files."""
        return None

    def headers(self, snapshot: Snapshot) -> Mapping[str, str]:
        """Return the headers with the age of the snapshot; empty for files."""
        return {}

    @abstractmethod
    async def close(self) -> None:
        """Wait for running work, and stop the threads."""
