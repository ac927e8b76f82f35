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
from concurrent.futures import ThreadPoolExecutor

from skillyard.base.shapes.service import StoreState
from skillyard.engine.catalog import Catalog
from skillyard.engine.index.library_spec import Progress
from skillyard.install.policy.library import open_catalog
from skillyard.serve.runtime.errors import building, unavailable
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.serve.runtime.snapshot import Snapshot, snapshot_of
from skillyard.serve.runtime.vectors import VectorThread

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

Listener = Callable[[Snapshot, Snapshot], None]
"""Receives the snapshot before a change and the one after it."""


class LibraryFollower(ABC):
    """Follows a library and has its newest snapshot. Belongs to one event loop."""

    failure = ""
    """The kind of error of the last refresh; empty when it succeeded."""
    building: Progress | None = None
    """The progress of an index that must be built before the first snapshot; else None."""

    def __init__(self, log: Log) -> None:
        """Raises InvalidInput when the default scorer cannot be used."""
        self._log = log
        self.vectors = VectorThread(log)
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


class FolderFollower(LibraryFollower):
    """Follows the folders of the options. Files are read in a thread of its own."""

    def __init__(
        self, options: ServiceOptions, log: Log, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(log)
        self._options = options
        self._clock = clock
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="skillyard-files")
        self._refreshing: asyncio.Task[None] | None = None
        self._began = self._ended = float("-inf")
        """When the last completed refresh began and ended."""
        self._took_unchanged = 0.0
        """Duration in seconds of the last refresh that found no change."""
        self._problem: Exception | None = None

    async def current(self) -> Snapshot:
        """Return the newest snapshot, and start a refresh when it is due.

        Raises Refused (503) when there is none. The first snapshot of a large library takes some
        seconds, for which requests do not wait.
        """
        age = self._clock() - self._ended
        refresh = self.refresh_if_due()
        while self.snapshot is None and refresh is not None and not refresh.done():
            if self.building is not None:
                raise building(self.building)
            await asyncio.wait({refresh}, timeout=PATIENCE_S)
        if self.snapshot is not None and age > STALE_S and refresh is not None:
            await asyncio.wait({refresh}, timeout=PATIENCE_S)
        if self.snapshot is None:
            raise unavailable() from self._problem
        return self.snapshot

    async def fresh(self) -> Snapshot:
        """Return a snapshot that is at most a second old. Raises Refused (503) without one.

        In a library with slow scans, it may be several refreshes old.
        """
        if self.snapshot is None:
            return await self.current()
        slow = SLOW_REFRESHES * (self._ended - self._began)
        if self._clock() - self._began > max(MAX_AGE_S, slow):
            await asyncio.wait({self.refresh()}, timeout=PATIENCE_S)
        return self.snapshot

    def refresh_if_due(self) -> asyncio.Task[None] | None:
        """Start a refresh if one is due; return the running one, if any."""
        slow = self._took_unchanged / MAX_REFRESH_SHARE
        due = self._clock() - self._ended >= max(self._options.limits.look_s, slow)
        return self.refresh() if due else self._refreshing

    def refresh(self) -> asyncio.Task[None]:
        """Start a refresh, or return the running one."""
        if self._refreshing is None:
            self._refreshing = asyncio.get_running_loop().create_task(self._refresh())
        return self._refreshing

    async def keep_fresh(self) -> None:
        """Refresh periodically until cancelled."""
        while True:
            await asyncio.wait({self.refresh()})
            slow = self._took_unchanged / MAX_REFRESH_SHARE
            await asyncio.sleep(max(PAUSE_S, slow))

    async def _refresh(self) -> None:
        loop = asyncio.get_running_loop()
        began = self._clock()

        def report(indexed: int, total: int) -> None:
            if self.snapshot is None:
                loop.call_soon_threadsafe(self._on_progress, self._clock() - began, indexed, total)

        def opened() -> Catalog:
            return open_catalog(
                self._options.roots,
                scopes=self._options.scopes,
                force_scan=True,
                in_parts=False,
                progress=report,
            )

        try:
            snapshot = await loop.run_in_executor(self._reader, self._newer_snapshot, opened)
            if snapshot is None:
                self._took_unchanged = self._clock() - began
            else:
                self._publish(snapshot)
            self.failure = ""
        except Exception as error:  # noqa: BLE001 - the snapshot before goes on answering
            kind = getattr(error, "code", "") or type(error).__name__
            if kind != self.failure or str(error) != str(self._problem):
                self._log.write("catalog", "error", error=f"{type(error).__name__}: {error}")
            self.failure, self._problem = kind, error
        finally:
            self._began, self._ended = began, self._clock()
            self._refreshing = self.building = None

    def _newer_snapshot(self, opened: Callable[[], Catalog]) -> Snapshot | None:
        """Return a snapshot of the current files; None when nothing changed."""
        before = self.snapshot
        if before is None:
            first = snapshot_of(opened(), 1, opened)
            first.make_ready({*first.used, self.vectors.scorer})
            return first
        changed = before.reload_if_changed(opened)
        if changed is None:
            return None
        snapshot = snapshot_of(changed, before.generation + 1, opened, before.whole)
        snapshot.make_ready({*before.used, self.vectors.scorer})
        snapshot.used = before.used  # that is still being answered from
        if snapshot.digest == before.digest:  # the same content under a newer index
            snapshot.generation = before.generation
        return snapshot

    def _on_progress(self, took: float, indexed: int, total: int) -> None:
        """Record how many files the first index has; an existing one is checked in less time."""
        if took >= PATIENCE_S and self._refreshing is not None:
            left = took / indexed * (total - indexed) if indexed else None
            self.building = Progress(indexed, total, left)
            about = left and round(left, 1)
            self._log.write_throttled(
                "index", "building", "info", done=indexed, total=total, seconds_left=about
            )

    async def wait_until_idle(self) -> None:
        """Wait until the running refresh has ended."""
        if self._refreshing is not None:
            await asyncio.wait({self._refreshing})

    async def close(self) -> None:
        """Wait for the running refresh, and stop the threads."""
        self.vectors.close()
        await self.wait_until_idle()
        await asyncio.get_running_loop().run_in_executor(None, self._reader.shutdown)
