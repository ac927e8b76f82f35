"""Follows folders of skill files. They are refreshed on requests, and when a file changes.

A small library is scanned and ranked in one step. For a large one the new files are shown first,
and the snapshot that ranks them follows some seconds later.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from skillyard.engine.catalog import Catalog
from skillyard.engine.index.progress import Progress
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
    """Follows the folders of the options. Files are read in threads of its own."""

    def __init__(
        self, options: ServiceOptions, log: Log, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(log, clock)
        self._options = options
        self._clock = clock
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="skillyard-files")
        self._ranker = ThreadPoolExecutor(1, thread_name_prefix="skillyard-ranks")
        self._threads_working = 0
        self._snapshot: Snapshot | None = None
        self._files: Catalog | None = None
        """The newest snapshot and files, from which the next view is made."""
        self._publishing = asyncio.Lock()
        self._refreshing: asyncio.Task[None] | None = None
        self._ranking: asyncio.Task[None] | None = None
        self._began = self._ended = float("-inf")
        """When the last completed refresh began and ended."""
        self._took = 0.0
        """Its duration in seconds."""
        self._took_unchanged = 0.0
        """Duration in seconds of the last refresh that found no change."""
        self._checked = float("-inf")
        self._check_took = 0.0
        self._last_request = clock()
        self._requested = asyncio.Event()
        self._watch = FolderWatch(self._on_change, self._on_watch_failure)
        self._changed_since = False
        """True when something changed after the last refresh began."""
        self._progress = _IndexProgress(log, clock)
        self._failure = ""
        self._problem: Exception | None = None
        self._closed = False

    @property
    def working(self) -> bool:
        """True while a thread scans the files, or prepares them for ranking."""
        return self._threads_working > 0

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

    # --- requests ---

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
        self._last_request = self._clock()
        self._requested.set()
        if self._view is None:
            await asyncio.wait({self.refresh()})
        elif self._clock() - self._began > self._max_age():
            await asyncio.wait({self.refresh()}, timeout=freshness.PATIENCE_S)
        if self._view is None:
            raise unavailable() from self._problem
        return self._view

    def _max_age(self) -> float:
        """Return the maximum age in seconds of a fresh view."""
        if self.is_watched:
            return freshness.STALE_S
        if self._took <= freshness.QUICK_REFRESH_S:
            return freshness.MAX_AGE_S
        return max(freshness.STALE_S, freshness.SLOW_REFRESHES * self._took)

    # --- schedule ---

    def refresh_if_due(self) -> asyncio.Task[None] | None:
        """Start a refresh if one is due; return the running one, if any."""
        slow = self._took_unchanged / freshness.MAX_REFRESH_SHARE
        due = self._clock() - self._ended >= max(self._options.limits.look_s, slow)
        return self.refresh() if due else self._refreshing

    @property
    def is_refreshing(self) -> bool:
        """True while a refresh is running."""
        return self._refreshing is not None

    def refresh(self) -> asyncio.Task[None]:
        """Start a refresh, or return the running one."""
        if self._refreshing is None:
            self._refreshing = asyncio.get_running_loop().create_task(self._refresh())
        return self._refreshing

    async def keep_fresh(self) -> None:
        """Refresh periodically until cancelled, rarely while there are no requests."""
        while True:
            began = self._clock()
            await asyncio.wait({self.refresh()})
            took = self._clock() - began
            if self.is_watched:
                await asyncio.sleep(max(freshness.WATCHED_PAUSE_S, freshness.PAUSE_FACTOR * took))
            elif began - self._last_request <= freshness.IDLE_S:
                await asyncio.sleep(max(freshness.PAUSE_S, freshness.PAUSE_FACTOR * took))
            else:
                pause = max(freshness.PAUSE_S, freshness.IDLE_PAUSE_FACTOR * took)
                await self._wait_for_request(pause)

    async def _wait_for_request(self, timeout_s: float) -> None:
        self._requested.clear()
        try:
            await asyncio.wait_for(self._requested.wait(), timeout_s)
        except TimeoutError:
            return

    def _on_change(self) -> None:
        """Refresh now, because something has changed."""
        self._changed_since = True
        if not self._closed:
            self.refresh()

    def _on_watch_failure(self, why: str) -> None:
        self._log.write("watch", "warning", error=why)

    # --- a refresh ---

    async def _refresh(self) -> None:
        loop = self._loop = asyncio.get_running_loop()
        began = self._clock()
        self._changed_since = False
        try:
            if self._snapshot is None or not self._is_large():
                await self._refresh_at_once(began)
            else:
                await self._refresh_files(self._snapshot, began)
        except Exception as error:  # noqa: BLE001 - the view before goes on answering
            self._record_failure(error)
        finally:
            self._began, self._ended = began, self._clock()
            self._took = self._ended - began
            self._refreshing = None
            self._progress.clear()
        if self._files is not None and self._watch.available and not self._closed:
            self._watch.follow({each.path: each.inode for each in self._files.folders})
        if self._changed_since and not self._closed:
            loop.call_soon(self.refresh)

    def _is_large(self) -> bool:
        return self._files is not None and len(self._files) > freshness.LARGE_LIBRARY

    async def _refresh_at_once(self, began: float) -> None:
        """Scan and rank everything, and replace the snapshot as a whole."""
        snapshot = await self._run_in(self._reader, self._newer_snapshot)
        self._failure = ""
        if snapshot is None:
            self._took_unchanged = self._clock() - began
        else:
            await self._replace_snapshot(snapshot)

    async def _refresh_files(self, snapshot: Snapshot, began: float) -> None:
        """Scan the files of a large library; in full only when a glance detects a change."""
        before = self._files
        assert before is not None
        files = (await self._run_in(self._reader, before.glance)).catalog
        if files is before:
            self._took_unchanged = self._clock() - began
            pause = max(freshness.INDEX_CHECK_S, self._check_took / freshness.MAX_REFRESH_SHARE)
            due = self._clock() - self._checked >= pause
            if (due or self._failure) and self._ranking is None:
                self._start_ranking(self._check_index(snapshot))
            return
        self._failure = ""
        self._files = files
        await self._publish()
        if self._ranking is None:
            self._start_ranking(self._rank_files())

    def _start_ranking(self, work: Coroutine[Any, Any, None]) -> None:
        self._ranking = asyncio.get_running_loop().create_task(self._rank(work))

    async def _rank(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - the view before goes on answering
            self._record_failure(error)
        finally:
            self._ranking = None

    async def _check_index(self, snapshot: Snapshot) -> None:
        """Detect an index that another process rebuilt, which a glance does not notice."""
        began = self._clock()
        files = self._files
        assert files is not None
        changed = await self._run_in(self._ranker, partial(snapshot.reload_if_changed, self._open))
        self._failure = ""
        self._check_took = self._clock() - began
        self._checked = self._clock()
        if changed is not None:
            newer = (await self._run_in(self._ranker, files.reload)).catalog
            if newer is not files and self._files is files:
                self._files = newer
                await self._publish()
        if changed is not None or self._files is not snapshot.whole:
            await self._rank_files()

    async def _rank_files(self) -> None:
        """Build the snapshot that ranks the files, and repeat until they are unchanged."""
        while not self._closed:
            before, files = self._snapshot, self._files
            assert before is not None
            assert files is not None
            snapshot = await self._run_in(
                self._ranker, partial(self._snapshot_of_files, before, files)
            )
            self._failure = ""
            if self._files is files:
                self._files = snapshot.whole
            await self._replace_snapshot(snapshot)
            if self._files is snapshot.whole:
                return

    def _snapshot_of_files(self, before: Snapshot, files: Catalog) -> Snapshot:
        catalog = self._open() if before.is_indexed else files
        return _ready(snapshot_of(catalog, before.generation + 1, self._open, files), before)

    def _newer_snapshot(self) -> Snapshot | None:
        """Return a snapshot of the current files; None when nothing changed."""
        before = self._snapshot
        if before is None:
            first = snapshot_of(self._open(), 1, self._open)
            first.make_ready(first.used)
            return first
        changed = before.reload_if_changed(self._open)
        if changed is None:
            return None
        return _ready(snapshot_of(changed, before.generation + 1, self._open, before.whole), before)

    def _open(self) -> Catalog:
        loop = self._loop

        def report(indexed: int, total: int) -> None:
            if self._snapshot is None:
                loop.call_soon_threadsafe(self._progress.update, indexed, total)

        return open_catalog(
            self._options.roots,
            scopes=self._options.scopes,
            force_scan=True,
            in_parts=False,
            progress=report,
            profile=self._options.profile,
        )

    async def _run_in(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        self._threads_working += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(thread, work)
        finally:
            self._threads_working -= 1

    # --- results ---

    async def _replace_snapshot(self, snapshot: Snapshot) -> None:
        before, self._snapshot = self._snapshot, snapshot
        if not self._is_large() or self._files is None:
            self._files = snapshot.whole
        await self._publish()
        if before is not None and before.generation == snapshot.generation:
            return  # the same content under a newer index is no visible change
        self.reloads += before is not None
        self._log.write(
            "catalog",
            skills=snapshot.whole.counts.skills,
            generation=snapshot.generation,
            digest=snapshot.digest[:16],
        )

    async def _publish(self) -> None:
        """Publish the view of the newest snapshot and files, and announce its changes."""
        async with self._publishing:
            before, snapshot, files = self._view, self._snapshot, self._files
            if snapshot is None or files is None:
                return
            if before is not None and before.snapshot is snapshot and before.files is files:
                return
            work = partial(next_view, before, snapshot, files)
            view = self._view = await self._run_in(self._reader, work)
            self.vectors.follow({view.ranked, view.snapshot})
            await self._announce(before, view)

    def _record_failure(self, error: Exception) -> None:
        kind = getattr(error, "code", "") or type(error).__name__
        if kind != self._failure or str(error) != str(self._problem):
            self._log.write("catalog", "error", error=f"{type(error).__name__}: {error}")
        self._failure, self._problem = kind, error

    async def wait_until_idle(self) -> None:
        """Wait until the running refresh and ranking have ended."""
        running = {task for task in (self._refreshing, self._ranking) if task is not None}
        if running:
            await asyncio.wait(running)

    async def close(self) -> None:
        """Wait for the running refresh, and stop the threads."""
        self._closed = True
        self.vectors.close()
        await self.wait_until_idle()
        for ends in (self._watch.close, self._reader.shutdown, self._ranker.shutdown):
            await asyncio.get_running_loop().run_in_executor(None, ends)


def _ready(snapshot: Snapshot, before: Snapshot) -> Snapshot:
    """Return the snapshot, prepared for the used scorers. Equal content keeps its number."""
    snapshot.make_ready(before.used)
    if snapshot.digest == before.digest:
        snapshot.generation = before.generation
    return snapshot


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
