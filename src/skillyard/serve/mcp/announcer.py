"""Notifies clients that the library changed, in both eras of the protocol.

Since revision 2026-07-28 a client subscribes through a stream. Before it, every client that
completed the handshake is notified. A client that does not read is dropped, never waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
)

PATIENCE_S = 5.0
"""Seconds that one client may take to accept one notification."""
SUBSCRIPTIONS = 1_000
"""Maximum number of resources that one client may subscribe to."""


class Announcer:
    """The clients that receive notifications. Belongs to one event loop."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._sessions: dict[ServerSession, set[str]] = {}
        self._running: set[asyncio.Task[None]] = set()

    @property
    def sessions(self) -> int:
        """Number of connected clients of the older era."""
        return len(self._sessions)

    def add_client(self, ctx: ServerRequestContext[Any, Any]) -> None:
        """Add a client that completed the handshake, until its connection closes."""
        session = ctx.session
        # The SDK has no public way from a request to its connection. Its exit stack is the
        # documented place for this, and the version is pinned below 3.
        connection = session._connection
        if "skillyard" not in connection.state:
            connection.state["skillyard"] = self._sessions.setdefault(session, set())
            connection.exit_stack.callback(self._sessions.pop, session, None)

    def subscribe(self, ctx: ServerRequestContext[Any, Any], uri: str) -> bool:
        """Subscribe a client to a resource. Returns False when it has too many subscriptions."""
        self.add_client(ctx)
        followed: set[str] = ctx.session._connection.state["skillyard"]
        if uri not in followed and len(followed) >= SUBSCRIPTIONS:
            return False
        followed.add(uri)
        return True

    def unsubscribe(self, ctx: ServerRequestContext[Any, Any], uri: str) -> None:
        """Unsubscribe the client."""
        ctx.session._connection.state.get("skillyard", set()).discard(uri)

    def announce(self, updated: Iterable[str]) -> None:
        """Announce that the lists and the given resources changed. Returns at once."""
        events: list[ServerEvent] = [ResourcesListChanged(), PromptsListChanged()]
        events += [ResourceUpdated(uri=uri) for uri in updated]
        self._start(self._publish(events))
        for session, followed in list(self._sessions.items()):
            self._start(_notify_session(session, events, frozenset(followed)))

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _publish(self, events: list[ServerEvent]) -> None:
        for event in events:
            await self.bus.publish(event)

    def close(self) -> None:
        """Stop notifying."""
        for task in list(self._running):
            task.cancel()


async def _notify_session(
    session: ServerSession, events: list[ServerEvent], followed: frozenset[str]
) -> None:
    """Send one client its notifications. A client that is gone is not an error."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            for event in events:
                if isinstance(event, ResourcesListChanged):
                    await session.send_resource_list_changed()
                elif isinstance(event, PromptsListChanged):
                    await session.send_prompt_list_changed()
                elif isinstance(event, ResourceUpdated) and event.uri in followed:
                    await session.send_resource_updated(event.uri)
    except Exception:  # noqa: BLE001 - a notification is never owed, and its reader may be anyone
        return
