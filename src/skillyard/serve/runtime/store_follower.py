"""A node: follows a catalog store, and answers from a local index."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from skillyard.base.errors import SkillyardError
from skillyard.base.shapes.service import StoreState
from skillyard.install.policy.library import find_policy
from skillyard.serve.runtime import follower as freshness
from skillyard.serve.runtime.errors import unavailable
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.serve.runtime.snapshot import Snapshot
from skillyard.store.node.catalog import NodeCatalog
from skillyard.store.node.follower import Follower as StoreThread
from skillyard.store.node.state import state_folder
from skillyard.store.opening import safe_address

FAILURE = "store_not_followed"
"""The public code of every failure. The log has its message, which may contain paths and hosts."""


class StoreFollower(freshness.LibraryFollower):
    """Follows a store, and answers from one generation at a time.

    The default scorer is bound to a generation before it is used. Each answer comes from one
    generation.
    """

    def __init__(self, options: ServiceOptions, log: Log) -> None:
        """Raises InvalidInput for the address, SkillIoError for the folder."""
        super().__init__(log)
        self._options = options
        self._newest: Snapshot | None = None
        """Created in the store's thread; requests are answered from it once the loop has it."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._has_snapshot = asyncio.Event()
        folder = options.state_dir or state_folder(
            safe_address(options.store), options.caller or None
        )
        self._store = StoreThread(
            options.store,
            folder,
            caller=options.caller or None,
            listener=self._on_generation,
            troubled=self._on_failure,
            policy_now=find_policy,
        )

    async def current(self) -> Snapshot:
        """Return the newest snapshot. Raises Refused (503) when there is none."""
        self._start()
        await self.wait_until_idle()
        if self.snapshot is None:
            failure = self._store.following.failure
            none = f"no generation of the store came within {freshness.PATIENCE_S:g} s"
            raise unavailable() from SkillyardError(failure or none)
        return self.snapshot

    def refresh(self) -> asyncio.Task[None]:
        """Start to follow, if that was not done yet."""
        self._start()
        return asyncio.get_running_loop().create_task(self.wait_until_idle())

    def refresh_if_due(self) -> asyncio.Task[None] | None:
        """Return None: changes are pushed."""
        self._start()
        return None

    async def wait_until_idle(self) -> None:
        """Wait a short time for the first generation. Later ones are ready when they arrive."""
        if self.snapshot is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._has_snapshot.wait(), freshness.PATIENCE_S)

    @property
    def ready(self) -> bool:
        """True when there is a generation that is not older than the options allow."""
        if self.snapshot is None:
            return False
        max_age_s, age_s = self._options.max_stale_s, self._store.following.age_s
        return not max_age_s or (age_s is not None and age_s <= max_age_s)

    @property
    def store_state(self) -> StoreState:
        """The state of the node in relation to its store."""
        now = self._store.following
        return StoreState(
            generation=now.generation,
            head=now.head,
            behind=max(0, now.head - now.generation),
            age_s=None if now.age_s is None else round(now.age_s, 3),
            failure=FAILURE if now.failure else None,
            taken=now.taken,
            ready=self.ready,
        )

    def headers(self, snapshot: Snapshot) -> Mapping[str, str]:
        """Return the generation of an answer, and its maximum age in seconds."""
        catalog = snapshot.whole
        # Not the store's current age: that may be of the next generation already.
        age = self._store.age_s(catalog) if isinstance(catalog, NodeCatalog) else None
        seconds = "unknown" if age is None else f"{age:.0f}"
        return {"Skillyard-Generation": str(snapshot.generation), "Skillyard-Age": seconds}

    def _start(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._take_newest()
            self._store.start()

    def _on_generation(self, catalog: NodeCatalog) -> None:
        """Prepare a generation in the store's thread, and pass it to the loop."""
        snapshot = Snapshot(catalog, catalog, catalog.position.generation)
        snapshot.make_ready({*snapshot.used, self.vectors.scorer})
        self._newest = snapshot
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._take_newest)

    def _on_failure(self, failure: str) -> None:
        """Log a problem when it changes, in the store's thread."""
        self.failure = FAILURE if failure else ""
        if failure:
            self._log.write("store", "error", error=failure)
        else:
            self._log.write("store", followed=True)

    def _take_newest(self) -> None:
        if self._newest is not None and self._newest is not self.snapshot:
            self._publish(self._newest)
            self._has_snapshot.set()

    async def close(self) -> None:
        """Stop following, and the thread."""
        self.vectors.close()
        await asyncio.get_running_loop().run_in_executor(None, self._store.close)
