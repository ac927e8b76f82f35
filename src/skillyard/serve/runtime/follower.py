"""Followers, which have the newest snapshot of a library.

A *refresh* scans all files of the library, and gives a new snapshot where something changed. HTTP
answers from the newest snapshot at once and starts a refresh when one is due (stale while
revalidate). MCP promises that an edit is visible within a second, so its answers wait for a refresh
when the last one is too old. The constants below decide when.
"""

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

LARGE_LIBRARY = 1_000
"""Number of files above which requests are refused, not delayed, while they are indexed for the
first time."""
STALE_S = 5.0
"""Seconds: a request waits for the refresh of an older snapshot."""
PATIENCE_S = 1.0
"""Maximum seconds that a request waits for a refresh, or for the first snapshot."""
MAX_AGE_S = 0.6
"""Maximum seconds since the refresh of a fresh snapshot, or :data:`SLOW_REFRESHES` refreshes where
these take long."""
SLOW_REFRESHES = 4
MAX_REFRESH_SHARE = 0.1
"""Maximum share of the time that is spent on refreshes without a change."""
PAUSE_S = 0.4
"""Seconds between two refreshes in the background."""
PROGRESS_LOG_S = 5.0
"""Seconds between two log lines about the progress of the index."""

Listener = Callable[[Snapshot, Snapshot], None]
"""Receives the snapshot before a change and the one after it."""


class Follower(ABC):
    """Follows a library and has its newest snapshot. Belongs to one event loop."""

    failure = ""
    """The kind of error of the last refresh; empty when it succeeded."""
    building: Progress | None = None
    """The progress of an index that must be built before the first snapshot; else None."""

    def __init__(self, log: Log, clock: Callable[[], float] = time.monotonic) -> None:
        """Raises InvalidInput when the default scorer cannot be used."""
        self._log = log
        self.vectors = VectorThread(log, clock)
        self.snapshot: Snapshot | None = None
        """The newest snapshot; None before the first."""
        self._listeners: list[Listener] = []
        self.reloads = 0
        """Number of times that the skills changed."""

    def listen(self, listener: Listener) -> None:
        """Call ``listener`` on the loop at each further change."""
        self._listeners.append(listener)

    def _publish(self, snapshot: Snapshot) -> None:
        """Answer from a snapshot from now on, and announce its changes."""
        before, self.snapshot = self.snapshot, snapshot
        self.vectors.follow(snapshot)
        if before is not None:
            if before.generation == snapshot.generation:
                return  # the same content under a newer index
            self.reloads += 1
        self._log.write(
            "catalog",
            skills=snapshot.whole.counts.skills,
            generation=snapshot.generation,
            digest=snapshot.digest[:16],
        )
        if before is not None:
            for listener in self._listeners:
                listener(before, snapshot)

    @abstractmethod
    async def current(self) -> Snapshot:
        """Return the newest snapshot, and start a refresh when it is due. Raises Refused (503)."""

    async def fresh(self) -> Snapshot:
        """Return a snapshot with all changes up to a second ago. Raises Refused (503)."""
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
    def ready(self) -> bool:
        """True when requests can be answered with sufficiently fresh data."""
        return self.snapshot is not None

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
