"""What holds the newest view of a library, wherever the library comes from."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from skillyard.index.progress import Progress
from skillyard.serving.runtime.logging import Log
from skillyard.serving.runtime.snapshot import Snapshot
from skillyard.serving.runtime.view import Change, View

__all__ = ["Follower"]


class Follower(ABC):
    """Holds the newest view of a library. Belongs to one event loop."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._view: View | None = None
        self._listeners: list[Callable[[Change], None]] = []
        self._announcing = asyncio.Lock()
        self.reloads = 0
        """How often the skills had changed."""

    @property
    def view(self) -> View | None:
        """The newest view, None before the first."""
        return self._view

    @property
    def snapshot(self) -> Snapshot | None:
        """The snapshot of the newest view, None before the first."""
        return None if self._view is None else self._view.snapshot

    def listen(self, listener: Callable[[Change], None]) -> None:
        """Call ``listener`` on the loop with what each further view changes."""
        self._listeners.append(listener)

    async def _announce(self, before: View | None, after: View) -> None:
        """Tell the listeners what a view changes. Raises what comparing the two raises."""
        if before is None or before.digest == after.digest or not self._listeners:
            return
        async with self._announcing:
            change = await asyncio.to_thread(Change.between, before, after)
            for listener in self._listeners:
                listener(change)

    @abstractmethod
    async def current(self) -> View:
        """Return the newest view; start a refresh where one is due. Raises Refused (503)."""

    @abstractmethod
    async def fresh(self) -> View:
        """Return a view that shows what was changed a second ago. Raises Refused (503)."""

    @abstractmethod
    def refresh(self) -> asyncio.Task[None]:
        """Start to look for changes, or return the refresh that is running."""

    @abstractmethod
    def refresh_if_due(self) -> asyncio.Task[None] | None:
        """Start a refresh if one is due; return the one that is running, if there is one."""

    async def refresh_anew(self) -> None:
        """Wait for a refresh that begins after this call.

        One that is running may have read a file before it changed.
        """
        if self.is_refreshing:
            await asyncio.wait({self.refresh()})
        await asyncio.wait({self.refresh()})

    @property
    def is_refreshing(self) -> bool:
        """True while a refresh is running; never where changes come by themselves."""
        return False

    @abstractmethod
    async def settled(self) -> None:
        """Wait until what is running now has ended, the ranking of new files included."""

    @abstractmethod
    async def keep_fresh(self) -> None:
        """Refresh again and again, until cancelled."""

    @property
    @abstractmethod
    def working(self) -> bool:
        """True while a thread looks for changes, or makes them ready to be ranked."""

    @property
    @abstractmethod
    def failure(self) -> str:
        """The kind of what went wrong with the last refresh; empty when nothing did."""

    @property
    def building(self) -> Progress | None:
        """How far an index is that has to be made before the first view; None otherwise."""
        return None

    @property
    def ready(self) -> bool:
        """True when requests for skills can be answered, as fresh as they have to be."""
        return self._view is not None

    def facts(self) -> Mapping[str, Any]:
        """Return what ``/health`` tells beside the snapshot; empty for files."""
        return {}

    def headers(self, snapshot: Snapshot) -> Mapping[str, str]:
        """Return what an answer from the snapshot says of its age; nothing for files."""
        return {}

    @abstractmethod
    async def close(self) -> None:
        """Wait for what is running, and end the threads."""
