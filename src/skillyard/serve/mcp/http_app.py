"""Streamable HTTP: the MCP server as an ASGI application for one path of an HTTP service.

The guards of the service check the client first (Host, Origin, token). This module limits the size
and time of a body, and sends refusals as JSON-RPC errors.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import INVALID_REQUEST
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from skillyard.serve.mcp.server import SkillServer
from skillyard.serve.mcp.stdio import refusal_of_surrogates
from skillyard.serve.runtime.app_context import ROUTE, AppContext
from skillyard.serve.runtime.errors import Refused
from skillyard.serve.runtime.guards import CLIENT, FairShare, busy, header_of

MCP_PATH = "/mcp"
SESSION = b"mcp-session-id"
VERSION = b"mcp-protocol-version"
IDLE_S = 600.0
"""Seconds after which an unused session is closed; its client then starts a new one."""


class McpApp:
    """The ASGI application. :meth:`running` must be entered while it serves."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._manager = StreamableHTTPSessionManager(
            SkillServer(context),
            session_idle_timeout=IDLE_S,
            max_sessions=None,  # Sessions counts them by client
            max_request_body_size=context.options.limits.body_bytes,
            # The service's guard has checked Host and Origin for all routes.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self.running = self._manager.run
        """Serves sessions and follows the library's files. Can be entered once."""
        self._sessions = Sessions(self._manager, context.options.limits.sessions)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        scope[ROUTE] = MCP_PATH
        try:
            await self._answer(scope, receive, send)
        except Refused as refused:
            self._context.log.write_refusal(
                refused.code, refused.message, status=refused.status, route=MCP_PATH
            )
            await _refusal(refused)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "POST", "DELETE"):
            refused = Refused(405, "method_not_allowed", "MCP takes GET, POST and DELETE")
            refused.headers["Allow"] = "GET, POST, DELETE"
            raise refused
        if scope["method"] == "POST":
            body = await self._context.guard.body(scope, receive)
            unreadable = refusal_of_surrogates(body)
            if unreadable is not None:
                text = unreadable.model_dump_json(by_alias=True, exclude_unset=True)
                await Response(text, 400, media_type="application/json")(scope, receive, send)
                return
            receive = _again(body, receive)
        await self._sessions.handle(scope, receive, send)


def _refusal(refused: Refused) -> Response:
    """Return the response of a refused request: its status, and a JSON-RPC error."""
    error: dict[str, Any] = {"code": INVALID_REQUEST, "message": refused.message}
    error["data"] = {"code": refused.code, "hint": refused.hint}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error})
    return Response(body, refused.status, refused.headers, "application/json")


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that replays the body that was read, then continues."""
    is_replayed = False

    async def message() -> Message:
        nonlocal is_replayed
        if is_replayed:
            return await receive()
        is_replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return message


class Sessions:
    """The sessions of the older era, shared between clients: the longest idle one makes room.

    The SDK refuses new sessions once there are too many, so that one client could lock out all
    others: ``tests/serve/mcp/test_sessions.py`` fails with the SDK alone.
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
                self._shares.add(client, -1)
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
        largest = max(idle.values(), key=self._shares.amounts.__getitem__, default="")
        owner = client if self._shares.free else largest
        victim = next((one for one in idle if idle[one] == owner), None)
        if victim is None:
            raise busy()
        self._forget(victim)
        self._shares.add(client, 1)
        headers = [(SESSION, victim.encode("ascii"))]
        scope: Scope = {"type": "http", "method": "DELETE", "path": "/mcp", "headers": headers}
        await self._manager.handle_request(scope, _nothing, _unheard)  # as its client would end it

    def _forget(self, session: str) -> None:
        client = self._clients.pop(session, None)
        if client is not None:
            del self._running[session]
            self._shares.add(client, -1)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(message: Message) -> None:
    """Discard the response of our own request."""
