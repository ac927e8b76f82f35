"""What a service asks of the catalog that it serves, wherever that comes from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from skillyard.catalog import Catalog
from skillyard.index.progress import Progress
from skillyard.serving.runtime.snapshot import Snapshot

__all__ = ["ServedCatalog"]


class ServedCatalog(Protocol):
    """Holds the newest snapshot. Belongs to one event loop."""

    @property
    def failure(self) -> str:
        """The kind of what went wrong with the last look; empty when nothing did."""
        ...

    @property
    def reloads(self) -> int:
        """How often the skills had changed."""
        ...

    @property
    def held(self) -> Snapshot | None:
        """The newest snapshot, None before the first."""
        ...

    @property
    def files(self) -> Catalog | None:
        """The newest skills: as new as the snapshot, or newer."""
        ...

    @property
    def watched(self) -> bool:
        """True while somebody says when a skill changes, so that nobody has to look."""
        ...

    @property
    def working(self) -> bool:
        """True while a thread looks for changes, or makes them ready to be ranked."""
        ...

    @property
    def building(self) -> Progress | None:
        """How far an index is that is made before anything can be answered; None otherwise."""
        ...

    def listen(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` on the loop after each change of ``held`` or ``files``."""
        ...

    async def current(self) -> Snapshot:
        """Return the newest snapshot. Raises Refused (503) when there is none."""
        ...

    def poke(self) -> asyncio.Task[None] | None:
        """Look for changes if that is due; return the look that is on its way, if there is one."""
        ...

    def look(self) -> asyncio.Task[None]:
        """Start to look for changes, or return the look that is on its way."""
        ...

    async def settled(self) -> None:
        """Wait until what is on its way now has been looked at and ranked."""
        ...

    @property
    def ready(self) -> bool:
        """True when requests for skills can be answered, as fresh as they have to be."""
        ...

    def facts(self) -> Mapping[str, Any]:
        """Return what ``/health`` tells beside the snapshot; empty for files."""
        ...

    def headers(self, snapshot: Snapshot) -> Mapping[str, str]:
        """Return what an answer from the snapshot says of its age; nothing for files."""
        ...

    async def close(self) -> None:
        """Wait for the look on its way, and end the threads."""
        ...
