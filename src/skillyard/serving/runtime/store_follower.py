"""A node: follows a catalog store, and answers from segments of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from skillyard.errors import SkillyardError
from skillyard.ranking.registry import DEFAULT_SCORER
from skillyard.serving.runtime import freshness
from skillyard.serving.runtime.errors import unavailable
from skillyard.serving.runtime.follower import Follower
from skillyard.serving.runtime.logging import Log
from skillyard.serving.runtime.options import ServiceOptions
from skillyard.serving.runtime.snapshot import Snapshot
from skillyard.serving.runtime.view import View, next_view
from skillyard.store.node.catalog import NodeCatalog
from skillyard.store.node.follower import Follower as StoreThread
from skillyard.store.node.state import state_folder
from skillyard.store.opening import shown_address

__all__ = ["StoreFollower"]

FAILURE = "store_not_followed"
"""What is told of any failure; the log has its sentence, which may name paths and hosts."""


class StoreFollower(Follower):
    """Follows a store; answers from one generation at a time, once it has started.

    A generation is ranked by the default scorer before anybody is answered from it; all that an
    answer shows comes from one generation.
    """

    def __init__(self, options: ServiceOptions, log: Log) -> None:
        """Raises InvalidInput for the address, SkillIoError for the folder."""
        super().__init__(log)
        self._options = options
        self._newest: Snapshot | None = None
        """Made in the store's thread; in the view once the loop has taken it."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._has_view = asyncio.Event()
        self._announcements: set[asyncio.Task[None]] = set()
        folder = options.state_dir or state_folder(
            shown_address(options.store), options.caller or None
        )
        self._store = StoreThread(
            options.store,
            folder,
            caller=options.caller or None,
            listener=self._on_generation,
            troubled=self._on_failure,
        )

    @property
    def working(self) -> bool:
        """Always: the store has a thread of its own."""
        return True

    @property
    def failure(self) -> str:
        """``store_not_followed`` while it cannot be; :meth:`facts` and the log say why."""
        return FAILURE if self._store.following.failure else ""

    async def current(self) -> View:
        """Return the newest view. Raises Refused (503) when there is none."""
        self._start()
        await self.settled()
        if self._view is None:
            failure = self._store.following.failure
            none = f"no generation of the store came within {freshness.PATIENCE_S:g} s"
            raise unavailable() from SkillyardError(failure or none)
        return self._view

    async def fresh(self) -> View:
        """Return the newest view: the store's thread brings every change by itself."""
        return await self.current()

    def refresh(self) -> asyncio.Task[None]:
        """Begin to follow, if that was not done yet."""
        self._start()
        return asyncio.get_running_loop().create_task(self.settled())

    def refresh_if_due(self) -> asyncio.Task[None] | None:
        """Return None: there is nothing to look at."""
        self._start()
        return None

    async def settled(self) -> None:
        """Wait a little for the first generation; later ones are ready when they come."""
        if self._view is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._has_view.wait(), freshness.PATIENCE_S)

    async def keep_fresh(self) -> None:
        """Begin to follow; the store's thread does the rest."""
        self._start()

    @property
    def ready(self) -> bool:
        """True when there is a generation that is not older than the options allow."""
        if self._view is None:
            return False
        max_age_s, age_s = self._options.max_stale_s, self._store.following.age_s
        return not max_age_s or (age_s is not None and age_s <= max_age_s)

    def facts(self) -> Mapping[str, Any]:
        """Return how the node stands to its store."""
        now = self._store.following
        return {
            "generation": now.generation,
            "head": now.head,
            "behind": max(0, now.head - now.generation),
            "age_s": None if now.age_s is None else round(now.age_s, 3),
            "failure": FAILURE if now.failure else None,
            "taken": now.taken,
            "ready": self.ready,
        }

    def headers(self, snapshot: Snapshot) -> Mapping[str, str]:
        """Return the generation of an answer, and how old it may be, in seconds."""
        catalog = snapshot.whole
        # Not the store's own: it may be one ahead, with an answer of the one before on its way.
        age = self._store.age_s(catalog.position) if isinstance(catalog, NodeCatalog) else None
        shown = "unknown" if age is None else f"{age:.0f}"
        return {"Skillyard-Generation": str(snapshot.generation), "Skillyard-Age": shown}

    def _start(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._take_newest()
            self._store.start()

    def _on_generation(self, catalog: NodeCatalog) -> None:
        """Make a generation ready, in the store's thread, and hand it over."""
        snapshot = Snapshot(catalog, catalog, catalog.position.generation)
        snapshot.make_ready((DEFAULT_SCORER,))
        self._newest = snapshot
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._take_newest)

    def _on_failure(self, failure: str) -> None:
        """Log what goes wrong when it changes, in the store's thread."""
        if failure:
            self._log.write("store", "error", error=failure)
        else:
            self._log.write("store", followed=True)

    def _take_newest(self) -> None:
        before, snapshot = self._view, self._newest
        if snapshot is None or snapshot is self.snapshot:
            return
        self.reloads += before is not None
        view = self._view = next_view(before, snapshot, snapshot.whole)
        self._has_view.set()
        self._log.write(
            "catalog",
            skills=snapshot.whole.counts.skills,
            generation=snapshot.generation,
            digest=snapshot.digest[:16],
        )
        task = asyncio.get_running_loop().create_task(self._announce(before, view))
        self._announcements.add(task)
        task.add_done_callback(self._announcements.discard)

    async def close(self) -> None:
        """End following and its thread."""
        await asyncio.get_running_loop().run_in_executor(None, self._store.close)
