"""Sessions of MCP's older era, shared fairly; the longest idle one is ended when there is no room.

The SDK refuses new sessions once there are too many, until one reaches its idle timeout. One client
could therefore lock out all others. Here the oldest idle session is ended instead.
"""

from __future__ import annotations

from collections import Counter

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import Message, Receive, Scope, Send

from skillyard.serve.runtime.clients import CLIENT
from skillyard.serve.runtime.guards import busy, header_of
from skillyard.serve.runtime.slots import SlotTable

SESSION = b"mcp-session-id"
VERSION = b"mcp-protocol-version"


class Sessions:
    """Passes requests to the SDK's session manager and tracks open and idle sessions."""

    def __init__(self, manager: StreamableHTTPSessionManager, most: int) -> None:
        self._manager = manager
        self._table: SlotTable[str] = SlotTable(most)
        self._running: Counter[str] = Counter()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request. Raises Refused (429) when it would exceed the number of sessions."""
        version = header_of(scope, VERSION)
        session = header_of(scope, SESSION)
        if version and version not in HANDSHAKE_PROTOCOL_VERSIONS:  # an era without sessions
            await self._manager.handle_request(scope, receive, send)
        elif session:
            await self._continue(session, scope, receive, send)
        else:
            await self._open(scope, receive, send)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = CLIENT.get()
        admitted, oldest = self._table.admit(client)
        if oldest is not None:
            await self._end(oldest)
        if not admitted:
            raise busy()
        opened = ""

        async def sending(message: Message) -> None:
            nonlocal opened
            if message["type"] == "http.response.start" and message["status"] < 400:
                opened = header_of(message, SESSION)
                if opened:
                    self._table.add(opened, client)
                    self._table.set_busy(opened)
            await send(message)

        try:
            await self._manager.handle_request(scope, receive, sending)
        finally:
            if opened:
                self._table.set_idle(opened)
            else:
                self._table.drop(client)

    async def _continue(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        if session not in self._table:  # it has ended; the SDK responds
            await self._manager.handle_request(scope, receive, send)
            return
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._running[session] += 1
        self._table.set_busy(session)
        try:
            await self._manager.handle_request(scope, receive, sending)
        finally:
            self._running[session] -= 1
            ended = status == 404 or (scope["method"] == "DELETE" and 200 <= status < 300)
            if ended:
                self._table.remove(session)
            if not self._running[session]:
                del self._running[session]
                self._table.set_idle(session)

    async def _end(self, session: str) -> None:
        """End a session as its client would. It may have ended by itself."""
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "DELETE",
            "scheme": "http",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "query_string": b"",
            "headers": [(SESSION, session.encode("ascii"))],
        }
        await self._manager.handle_request(scope, _nothing, _unheard)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(message: Message) -> None:
    """Discard the response of our own request."""
