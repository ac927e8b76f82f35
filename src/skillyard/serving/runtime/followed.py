"""The catalog of a node: it follows a store, and answers from its own segments."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from skillyard.catalog import Catalog
from skillyard.errors import SkillyardError
from skillyard.ranking.registry import DEFAULT_SCORER
from skillyard.serving.runtime.errors import unavailable
from skillyard.serving.runtime.logging import Log
from skillyard.serving.runtime.options import ServiceOptions
from skillyard.serving.runtime.snapshot import Snapshot
from skillyard.store.node.catalog import NodeCatalog
from skillyard.store.node.following import Follower
from skillyard.store.node.state import state_folder
from skillyard.store.opening import shown_address

__all__ = ["FollowedCatalog"]

FAILURE = "store_not_followed"
"""What is told of any failure; the log has its sentence, which may name paths and hosts."""
PATIENCE_S = 1.0
"""How long a request waits for the first generation."""


class FollowedCatalog:
    """Holds the newest generation of a store. Belongs to one event loop, once it has looked.

    A generation is ranked by the default scorer before anybody is answered from it; all that an
    answer shows comes from one generation.
    """

    def __init__(self, options: ServiceOptions, log: Log) -> None:
        """Raises InvalidInput for the address, SkillIoError for the folder."""
        self._options = options
        self._log = log
        self._made: Snapshot | None = None
        """The newest, made in the follower's thread; ``_held`` once the loop has taken it."""
        self._held: Snapshot | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._came = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []
        folder = options.state_dir or state_folder(
            shown_address(options.store), options.caller or None
        )
        self._follower = Follower(
            options.store,
            folder,
            caller=options.caller or None,
            listener=self._follow,
            troubled=self._note,
        )
        self.reloads = 0
        """How many generations came after the first."""

    @property
    def held(self) -> Snapshot | None:
        """The newest snapshot, None before the first."""
        return self._held

    @property
    def files(self) -> Catalog | None:
        """The skills of the newest snapshot."""
        return None if self._held is None else self._held.whole

    @property
    def watched(self) -> bool:
        """Always: the follower says when there is something new."""
        return True

    @property
    def working(self) -> bool:
        """Always: the follower has a thread of its own."""
        return True

    @property
    def failure(self) -> str:
        """``store_not_followed`` while it cannot be; :meth:`facts` and the log say why."""
        return FAILURE if self._follower.following.failure else ""

    def listen(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` on the loop after each change of ``held``."""
        self._listeners.append(listener)

    async def current(self) -> Snapshot:
        """Return the newest snapshot. Raises Refused (503) when there is none."""
        self._start()
        if self._held is None:
            try:
                await asyncio.wait_for(self._came.wait(), PATIENCE_S)
            except TimeoutError:
                said = self._follower.following.failure
                none = f"no generation of the store came within {PATIENCE_S:g} s"
                raise unavailable() from SkillyardError(said or none)
        held = self._held
        if held is None:
            raise unavailable()
        return held

    def poke(self) -> asyncio.Task[None] | None:
        """Return None: there is nothing to look at."""
        self._start()
        return None

    def look(self) -> asyncio.Task[None]:
        """Begin to follow, if that was not done yet."""
        self._start()
        return asyncio.get_running_loop().create_task(self.settled())

    async def settled(self) -> None:
        """Wait a little for the first generation; one that is held is ready."""
        if self._held is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._came.wait(), PATIENCE_S)

    @property
    def building(self) -> None:
        """Return None: a node says in :meth:`facts` how much it has taken over."""
        return None

    @property
    def ready(self) -> bool:
        """True when there is a generation that is not older than the options allow."""
        if self._held is None:
            return False
        most, age = self._options.max_stale_s, self._follower.following.age_s
        return not most or (age is not None and age <= most)

    def facts(self) -> Mapping[str, Any]:
        """Return how the node stands to its store."""
        now = self._follower.following
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
        # Not the follower's own: it may be one ahead, with an answer of the one before on its way.
        age = self._follower.age_s(catalog.position) if isinstance(catalog, NodeCatalog) else None
        told = "unknown" if age is None else f"{age:.0f}"
        return {"Skillyard-Generation": str(snapshot.generation), "Skillyard-Age": told}

    def _start(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._take()
            self._follower.start()

    def _follow(self, catalog: NodeCatalog) -> None:
        """Make a generation ready, in the follower's thread, and hand it over."""
        made = Snapshot(catalog, catalog, catalog.position.generation)
        made.make_ready((DEFAULT_SCORER,))
        self._made = made
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._take)

    def _note(self, failure: str) -> None:
        """Log what goes wrong when it changes, in the follower's thread."""
        if failure:
            self._log.write("store", "error", error=failure)
        else:
            self._log.write("store", followed=True)

    def _take(self) -> None:
        made = self._made
        if made is None or made is self._held:
            return
        self.reloads += self._held is not None
        self._held = made
        self._came.set()
        self._log.write(
            "catalog",
            skills=made.whole.counts.skills,
            generation=made.generation,
            digest=made.digest[:16],
        )
        for listener in self._listeners:
            listener()

    async def close(self) -> None:
        """End following and its thread."""
        await asyncio.get_running_loop().run_in_executor(None, self._follower.close)
