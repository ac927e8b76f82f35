"""Streamable HTTP: the MCP server as an ASGI application for one path of an HTTP service.

The guards of the service check the client first (Host, Origin, token). This module limits the size
and time of a body, and sends refusals as JSON-RPC errors.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import INVALID_REQUEST
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from skillyard.serve.mcp.messages import refusal_of_surrogates
from skillyard.serve.mcp.server import create_server
from skillyard.serve.mcp.sessions import Sessions
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.errors import Refused

IDLE_S = 600.0
"""Seconds after which an unused session is closed; its client then starts a new one."""


class McpApp:
    """The ASGI application. :meth:`running` must be entered while it serves."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._manager = StreamableHTTPSessionManager(
            create_server(context),
            session_idle_timeout=IDLE_S,
            max_sessions=None,  # Sessions counts them by client
            max_request_body_size=context.options.limits.body_bytes,
            # The service's guard has checked Host and Origin for all routes.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._sessions = Sessions(self._manager, context.options.limits.sessions)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve sessions and follow the library's files. Can be entered once."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        try:
            await self._answer(scope, receive, send)
        except Refused as refused:
            self._context.log.write_refusal(
                refused.code, refused.message, status=refused.status, route="/mcp"
            )
            await _refusal(refused)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "POST", "DELETE"):
            refused = Refused(405, "method_not_allowed", "MCP takes GET, POST and DELETE")
            refused.headers["Allow"] = "GET, POST, DELETE"
            raise refused
        if scope["method"] == "POST":
            body = await self._context.body_reader.read(scope, receive)
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
