"""Sessions of MCP's older era, shared between clients; the longest idle one makes room.

The SDK refuses new sessions once there are too many, until one reaches its idle timeout, so that
one client could lock out all others: ``tests/serve/mcp/test_sessions.py`` fails with the SDK alone.
"""

from __future__ import annotations

from collections import Counter

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import Message, Receive, Scope, Send

from skillyard.serve.runtime.clients import CLIENT, FairShare
from skillyard.serve.runtime.guards import busy, header_of

SESSION = b"mcp-session-id"
VERSION = b"mcp-protocol-version"


class Sessions:
    """Passes requests to the SDK's session manager and ends idle sessions when there are many.

    A session is idle while it has no running request. Belongs to one event loop.
    """

    def __init__(self, manager: StreamableHTTPSessionManager, most: int) -> None:
        self._manager = manager
        self._shares = FairShare(most)
        self._clients: dict[str, str] = {}
        """The client of each session, in the order in which they were last used."""
        self._running: Counter[str] = Counter()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request. Raises Refused (429) when there is no room for its session."""
        version, session = header_of(scope, VERSION), header_of(scope, SESSION)
        if version and version not in HANDSHAKE_PROTOCOL_VERSIONS:  # an era without sessions
            await self._manager.handle_request(scope, receive, send)
            return
        client = CLIENT.get()
        if not session:
            await self._make_room(client)
        opens, status = not session, 0

        async def sending(message: Message) -> None:
            nonlocal session, status
            if message["type"] == "http.response.start":
                status = message["status"]
                if opens and status < 400 and (session := header_of(message, SESSION)):
                    self._clients[session] = client
                    self._running[session] = 1
            await send(message)

        if session in self._clients:
            self._running[session] += 1
        try:
            await self._manager.handle_request(scope, receive, sending)
        finally:
            if session in self._clients:
                self._running[session] -= 1
            if opens and not session:
                self._shares.release(client)
            elif status == 404 or (scope["method"] == "DELETE" and 200 <= status < 300):
                self._forget(session)
            elif session in self._clients:
                self._clients[session] = self._clients.pop(session)  # the last to be ended

    async def _make_room(self, client: str) -> None:
        """Take a client's share of one session, in the place of an idle one if need be.

        That is the client's own if it has reached its share, else one of the largest client.
        """
        if self._shares.acquire(client):
            return
        idle = {one: owner for one, owner in self._clients.items() if not self._running[one]}
        largest = max(idle.values(), key=self._shares.amount_of, default="")
        owner = client if self._shares.free else largest
        victim = next((one for one in idle if idle[one] == owner), None)
        if victim is None:
            raise busy()
        self._forget(victim)
        self._shares.transfer_to(client)
        headers = [(SESSION, victim.encode("ascii"))]
        scope: Scope = {"type": "http", "method": "DELETE", "path": "/mcp", "headers": headers}
        await self._manager.handle_request(scope, _nothing, _unheard)  # as its client would end it

    def _forget(self, session: str) -> None:
        client = self._clients.pop(session, None)
        if client is not None:
            del self._running[session]
            self._shares.release(client)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(message: Message) -> None:
    """Discard the response of our own request."""
