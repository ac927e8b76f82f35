"""Slots that clients hold for long, and their eviction when there is no room.

They limit connections and sessions. A new one takes the slot of the longest idle one: of the same
client if that has reached its share, else of the client with the most slots.
"""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

from skillyard.serve.runtime.clients import FairShare

C = TypeVar("C")


class SlotTable(Generic[C]):
    """The slots by client; idle ones in the order in which they became idle.

    A connection or session is idle while it has no running request. Belongs to one event loop.
    """

    def __init__(self, most: int) -> None:
        self._shares = FairShare(most)
        self._clients: dict[C, str] = {}
        self._idle: dict[str, dict[C, None]] = {}
        self._room = asyncio.Event()
        self._room.set()

    def __len__(self) -> int:
        return self._shares.used

    def __contains__(self, slot: object) -> bool:
        return slot in self._clients

    async def wait_for_room(self) -> None:
        """Wait until there is room for one more, or an idle one that can be evicted."""
        await self._room.wait()

    def admit(self, client: str) -> tuple[bool, C | None]:
        """Reserve a slot for a client, to be added once it is established, or dropped.

        Returns False when there is none. The second value is an idle connection or session that was
        evicted for it and must be closed.
        """
        if self._shares.acquire(client):
            self._update_room()
            return True, None
        victim = self._oldest_idle(client) if self._shares.free else self._idle_of_largest(client)
        if victim is None:
            return False, None
        self.remove(victim)
        self._shares.transfer_to(client)
        self._update_room()
        return True, victim

    def evict(self) -> C | None:
        """Remove the oldest idle slot of the largest client, to be closed; None if none is idle."""
        victim = self._idle_of_largest()
        if victim is not None:
            self.remove(victim)
        return victim

    def drop(self, client: str) -> None:
        """Release a reserved slot that was never established."""
        self._shares.release(client)
        self._update_room()

    def add(self, slot: C, client: str) -> None:
        """Add a reserved slot. It is idle."""
        self._clients[slot] = client
        self.set_idle(slot)

    def set_idle(self, slot: C) -> None:
        """Mark a slot as idle. It is the last to be evicted."""
        client = self._clients.get(slot)
        if client is not None:
            idle = self._idle.setdefault(client, {})
            idle.pop(slot, None)
            idle[slot] = None
            self._update_room()

    def set_busy(self, slot: C) -> None:
        """Mark a slot as busy, so that it is not evicted."""
        client = self._clients.get(slot)
        if client is not None:
            self._forget_idle(slot, client)
            self._update_room()

    def remove(self, slot: C) -> None:
        """Remove a slot, if it is (still) known."""
        client = self._clients.pop(slot, None)
        if client is not None:
            self._forget_idle(slot, client)
            self._shares.release(client)
            self._update_room()

    def _forget_idle(self, slot: C, client: str) -> None:
        idle = self._idle.get(client, {})
        idle.pop(slot, None)
        if not idle:
            self._idle.pop(client, None)

    def _idle_of_largest(self, instead_of: str = "") -> C | None:
        """Return the oldest idle slot of the largest client, if that has not less than another."""
        largest = max(self._idle, key=self._shares.amount_of, default="")
        if instead_of and self._shares.amount_of(largest) < self._shares.amount_of(instead_of):
            return None
        return self._oldest_idle(largest)

    def _oldest_idle(self, client: str) -> C | None:
        return next(iter(self._idle.get(client, ())), None)

    def _update_room(self) -> None:
        if self._shares.free or self._idle:
            self._room.set()
        else:
            self._room.clear()
