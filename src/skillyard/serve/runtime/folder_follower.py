"""Follows folders of skill files. They are refreshed on requests, and when a file changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from skillyard.engine.catalog import Catalog
from skillyard.engine.index.library_summary import Progress
from skillyard.install.policy.library import open_catalog
from skillyard.serve.runtime import freshness
from skillyard.serve.runtime.errors import building, unavailable
from skillyard.serve.runtime.folder_watch import FolderWatch
from skillyard.serve.runtime.follower import Follower
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.serve.runtime.snapshot import Snapshot, snapshot_of
from skillyard.serve.runtime.view import View, next_view

T = TypeVar("T")


class FolderFollower(Follower):
    """Follows the folders of the options. Files are read in a thread of its own."""

    def __init__(
        self, options: ServiceOptions, log: Log, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(log, clock)
        self._options = options
        self._clock = clock
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="skillyard-files")
        self._refreshing: asyncio.Task[None] | None = None
        self._began = self._ended = float("-inf")
        """When the last completed refresh began and ended."""
        self._took = 0.0
        """Its duration in seconds."""
        self._took_unchanged = 0.0
        """Duration in seconds of the last refresh that found no change."""
        self._watch = FolderWatch(self._on_change, self._on_watch_failure)
        self._changed_since = False
        """True when something changed after the last refresh began."""
        self._progress = _IndexProgress(log, clock)
        self._failure = ""
        self._problem: Exception | None = None
        self._closed = False

    @property
    def is_watched(self) -> bool:
        """True while the operating system reports changes, so that polling is not needed."""
        return self._watch.stands

    @property
    def failure(self) -> str:
        """The kind of error of the last refresh; empty when it succeeded."""
        return self._failure

    @property
    def building(self) -> Progress | None:
        """The progress of the first index of a large library, until the service can answer."""
        return self._progress.estimate

    async def current(self) -> View:
        """Return the newest view, and start a refresh when it is due.

        Raises Refused (503) when there is none. The first view of a large library takes some
        seconds, for which requests do not wait.
        """
        age = self._clock() - self._ended
        refresh = self.refresh_if_due()
        if self._view is None and refresh is not None:
            begins = asyncio.ensure_future(self._progress.has_estimate.wait())
            await asyncio.wait({refresh, begins}, return_when=asyncio.FIRST_COMPLETED)
            begins.cancel()
            if self._view is None and self.building is not None:
                raise building(self.building)
        elif age > freshness.STALE_S and refresh is not None:
            await asyncio.wait({refresh}, timeout=freshness.PATIENCE_S)
        if self._view is None:
            raise unavailable() from self._problem
        return self._view

    async def fresh(self) -> View:
        """Return a view that is at most a second old. Raises Refused (503) when there is none.

        In a library with slow scans, the view may be several refreshes old.
        """
        max_age = max(freshness.MAX_AGE_S, freshness.SLOW_REFRESHES * self._took)
        if self._view is None:
            await asyncio.wait({self.refresh()})
        elif self._clock() - self._began > (freshness.STALE_S if self.is_watched else max_age):
            await asyncio.wait({self.refresh()}, timeout=freshness.PATIENCE_S)
        if self._view is None:
            raise unavailable() from self._problem
        return self._view

    def refresh_if_due(self) -> asyncio.Task[None] | None:
        """Start a refresh if one is due; return the running one, if any."""
        slow = self._took_unchanged / freshness.MAX_REFRESH_SHARE
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
            pause = freshness.WATCHED_PAUSE_S if self.is_watched else freshness.PAUSE_S
            await asyncio.sleep(max(pause, self._took_unchanged / freshness.MAX_REFRESH_SHARE))

    def _on_change(self) -> None:
        """Refresh now, because something has changed."""
        self._changed_since = True
        if not self._closed:
            self.refresh()

    def _on_watch_failure(self, why: str) -> None:
        self._log.write("watch", "warning", error=why)

    async def _refresh(self) -> None:
        loop = self._loop = asyncio.get_running_loop()
        began = self._clock()
        self._changed_since = False
        try:
            snapshot = await self._in_thread(self._newer_snapshot)
            self._failure = ""
            if snapshot is None:
                self._took_unchanged = self._clock() - began
            else:
                await self._replace(snapshot)
        except Exception as error:  # noqa: BLE001 - the view before goes on answering
            self._record_failure(error)
        finally:
            self._began, self._ended = began, self._clock()
            self._took = self._ended - began
            self._refreshing = None
            self._progress.clear()
        if self._view is not None and self._watch.available and not self._closed:
            self._watch.follow({each.path: each.inode for each in self._view.files.folders})
        if self._changed_since and not self._closed:
            loop.call_soon(self.refresh)

    def _newer_snapshot(self) -> Snapshot | None:
        """Return a snapshot of the current files; None when nothing changed."""
        before = self.snapshot
        if before is None:
            first = snapshot_of(self._open(), 1, self._open)
            first.make_ready(first.used)
            return first
        changed = before.reload_if_changed(self._open)
        if changed is None:
            return None
        snapshot = snapshot_of(changed, before.generation + 1, self._open, before.whole)
        snapshot.make_ready(before.used)
        snapshot.used = before.used  # that is still being answered from
        if snapshot.digest == before.digest:  # the same content under a newer index
            snapshot.generation = before.generation
        return snapshot

    def _open(self) -> Catalog:
        loop = self._loop

        def report(indexed: int, total: int) -> None:
            if self._view is None:
                loop.call_soon_threadsafe(self._progress.update, indexed, total)

        return open_catalog(
            self._options.roots,
            scopes=self._options.scopes,
            force_scan=True,
            in_parts=False,
            progress=report,
            profile=self._options.profile,
        )

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._reader, work)

    async def _replace(self, snapshot: Snapshot) -> None:
        """Publish the view of a snapshot, and announce its changes."""
        before = self._view
        view = self._view = await self._in_thread(partial(next_view, before, snapshot))
        self.vectors.follow({view.ranked, view.snapshot})
        await self._announce(before, view)
        if before is not None and before.snapshot.generation == snapshot.generation:
            return  # no visible change
        self.reloads += before is not None
        self._log.write(
            "catalog",
            skills=snapshot.whole.counts.skills,
            generation=snapshot.generation,
            digest=snapshot.digest[:16],
        )

    def _record_failure(self, error: Exception) -> None:
        kind = getattr(error, "code", "") or type(error).__name__
        if kind != self._failure or str(error) != str(self._problem):
            self._log.write("catalog", "error", error=f"{type(error).__name__}: {error}")
        self._failure, self._problem = kind, error

    async def wait_until_idle(self) -> None:
        """Wait until the running refresh has ended."""
        if self._refreshing is not None:
            await asyncio.wait({self._refreshing})

    async def close(self) -> None:
        """Wait for the running refresh, and stop the threads."""
        self._closed = True
        self.vectors.close()
        await self.wait_until_idle()
        await self._watch.close()
        await asyncio.get_running_loop().run_in_executor(None, self._reader.shutdown)


class _IndexProgress:
    """The progress of the first index, for requests before the first view."""

    def __init__(self, log: Log, clock: Callable[[], float]) -> None:
        self._log = log
        self._clock = clock
        self._since: float | None = None
        self._logged = float("-inf")
        self.estimate: Progress | None = None
        """None until a large index has been under construction for some time."""
        self.has_estimate = asyncio.Event()

    def update(self, indexed: int, total: int) -> None:
        """Record the number of indexed files."""
        if total <= freshness.LARGE_LIBRARY:
            return
        now = self._clock()
        if self._since is None:
            self._since = now
        took = now - self._since
        if took < freshness.PATIENCE_S:  # an existing index is checked faster than this
            return
        left = took / indexed * (total - indexed) if indexed else None
        self.estimate = Progress(indexed, total, left)
        self.has_estimate.set()
        if now - self._logged >= freshness.PROGRESS_LOG_S:
            self._logged = now
            self._log.write(
                "index", done=indexed, total=total, seconds_left=left and round(left, 1)
            )

    def clear(self) -> None:
        """Record that nothing is being indexed."""
        self.estimate = self._since = None
        self.has_estimate.clear()
