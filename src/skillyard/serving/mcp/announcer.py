"""Telling clients that the library changed, in either era of the protocol.

Since revision 2026-07-28 a client opens a stream for what it wants to hear; before it, every
client that shook hands is told. A client that does not read is let go of, never waited for.
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
    ToolsListChanged,
)

__all__ = ["Announcer"]

PATIENCE_S = 5.0
"""What one client may take to accept one notification."""
SUBSCRIPTIONS = 1_000
"""Resources that one client may follow."""


class Announcer:
    """Knows the clients that listen. Belongs to one event loop."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._sessions: dict[ServerSession, set[str]] = {}
        self._running: set[asyncio.Task[None]] = set()

    @property
    def sessions(self) -> int:
        """How many clients of the older era are connected."""
        return len(self._sessions)

    def joined(self, ctx: ServerRequestContext[Any, Any]) -> None:
        """Note a client that has shaken hands; it is forgotten when its connection closes."""
        session = ctx.session
        # The SDK has no public way from a request to its connection, whose exit stack it says is
        # the place for this; the version is held below 3.
        connection = session._connection
        if "skillyard" not in connection.state:
            connection.state["skillyard"] = self._sessions.setdefault(session, set())
            connection.exit_stack.callback(self._sessions.pop, session, None)

    def subscribe(self, ctx: ServerRequestContext[Any, Any], uri: str) -> bool:
        """Tell this client when the resource changes; False where it follows too many."""
        self.joined(ctx)
        followed: set[str] = ctx.session._connection.state["skillyard"]
        if uri not in followed and len(followed) >= SUBSCRIPTIONS:
            return False
        followed.add(uri)
        return True

    def unsubscribe(self, ctx: ServerRequestContext[Any, Any], uri: str) -> None:
        """Tell it no longer."""
        ctx.session._connection.state.get("skillyard", set()).discard(uri)

    def announce(self, updated: Iterable[str], *, tools: bool) -> None:
        """Say that the lists changed and which resources did; returns at once."""
        events: list[ServerEvent] = [ResourcesListChanged(), PromptsListChanged()]
        if tools:
            events.append(ToolsListChanged())
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
        """Stop telling."""
        for task in list(self._running):
            task.cancel()


async def _notify_session(
    session: ServerSession, events: list[ServerEvent], followed: frozenset[str]
) -> None:
    """Send one client what concerns it. It may be gone: that is no reason to fail."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            for event in events:
                if isinstance(event, ResourcesListChanged):
                    await session.send_resource_list_changed()
                elif isinstance(event, PromptsListChanged):
                    await session.send_prompt_list_changed()
                elif isinstance(event, ToolsListChanged):
                    await session.send_tool_list_changed()
                elif event.uri in followed:
                    await session.send_resource_updated(event.uri)
    except Exception:  # noqa: BLE001 - a notification is never owed, and its reader may be anyone
        return
