"""ConcurrencyLimiter that clients hold for long, and which of them goes where there is no room.

So connections are bounded, and sessions: whoever comes new takes the place of what has been idle
for the longest, of its own where it has its share, else of who holds most.
"""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

from skillyard.serving.runtime.clients import FairShare

__all__ = ["SlotTable"]

C = TypeVar("C")


class SlotTable(Generic[C]):
    """What holds a place, by client; the idle ones in the order in which they became so.

    A connection or session is idle while no request of it is worked on. Belongs to one event loop.
    """

    def __init__(self, most: int) -> None:
        self._shares = FairShare(most)
        self._clients: dict[C, str] = {}
        self._idle: dict[str, dict[C, None]] = {}
        self._room = asyncio.Event()
        self._room.set()

    def __len__(self) -> int:
        return self._shares.taken

    def __contains__(self, slot: object) -> bool:
        return slot in self._clients

    async def room(self) -> None:
        """Wait until there is room for one more, or an idle one could make it."""
        await self._room.wait()

    def admit(self, client: str) -> tuple[bool, C | None]:
        """Give a client a place for what it opens, which is added once it stands, or dropped.

        Returns False where it cannot have one. Where it has the place of an idle one, that is no
        longer in the table, and has to be closed.
        """
        if self._shares.take(client):
            self._tell()
            return True, None
        victim = self._oldest_idle(client) if self._shares.free else self._idle_of_largest(client)
        if victim is None:
            return False, None
        self.remove(victim)
        self._shares.move_in(client)
        self._tell()
        return True, victim

    def evict(self) -> C | None:
        """Take out the oldest idle one of who holds most, to be closed; None where none is idle."""
        victim = self._idle_of_largest()
        if victim is not None:
            self.remove(victim)
        return victim

    def drop(self, client: str) -> None:
        """Forget what was admitted and never stood."""
        self._shares.give_back(client)
        self._tell()

    def add(self, slot: C, client: str) -> None:
        """Enter what was admitted; it is idle."""
        self._clients[slot] = client
        self.set_idle(slot)

    def set_idle(self, slot: C) -> None:
        """Note that no request of it is worked on: it is the last of the idle ones to go."""
        client = self._clients.get(slot)
        if client is not None:
            idle = self._idle.setdefault(client, {})
            idle.pop(slot, None)
            idle[slot] = None
            self._tell()

    def set_busy(self, slot: C) -> None:
        """Note that a request of it is worked on: it stays."""
        client = self._clients.get(slot)
        if client is not None:
            self._forget_idle(slot, client)
            self._tell()

    def remove(self, slot: C) -> None:
        """Forget it; nothing where it is not known (any more)."""
        client = self._clients.pop(slot, None)
        if client is not None:
            self._forget_idle(slot, client)
            self._shares.give_back(client)
            self._tell()

    def _forget_idle(self, slot: C, client: str) -> None:
        idle = self._idle.get(client, {})
        idle.pop(slot, None)
        if not idle:
            self._idle.pop(client, None)

    def _idle_of_largest(self, instead_of: str = "") -> C | None:
        """Return the oldest idle one of who holds most, and no less than another client."""
        largest = max(self._idle, key=self._shares.held, default="")
        if instead_of and self._shares.held(largest) < self._shares.held(instead_of):
            return None
        return self._oldest_idle(largest)

    def _oldest_idle(self, client: str) -> C | None:
        return next(iter(self._idle.get(client, ())), None)

    def _tell(self) -> None:
        if self._shares.free or self._idle:
            self._room.set()
        else:
            self._room.clear()
