"""The MCP server, and the host side of its Skills extension.

``serve_stdio(ServiceOptions(...))`` serves one client over standard input and output,
``serve_http(ServiceOptions(...))`` any number over streamable HTTP, and ``mcp_app(context)`` is the
ASGI application for an HTTP service of one's own. A request reaches :mod:`.server`; tools are
looked up in :mod:`.tools`, skills as resources in :mod:`.extension`, and both let
:mod:`.view_worker` answer from the newest view of the library. ``skillyard.serving.mcp.host`` reads
the skills of *other* servers: it verifies them, asks for approval and keeps what it has verified.
The official SDK, of the extra ``serve``, loads with the functions that need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillyard.serving.mcp.commands import serve_http, serve_stdio
    from skillyard.serving.mcp.http_app import McpApp, mcp_app
    from skillyard.serving.mcp.server import SkillServer, create_server

__all__ = ["McpApp", "SkillServer", "create_server", "mcp_app", "serve_http", "serve_stdio"]

_ROOMS = {
    "McpApp": "http_app",
    "SkillServer": "server",
    "create_server": "server",
    "mcp_app": "http_app",
    "serve_http": "commands",
    "serve_stdio": "commands",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _ROOMS:
        raise AttributeError(f"module 'skillyard.serving.mcp' has no attribute {name!r}")
    return getattr(import_module(f"skillyard.serving.mcp.{_ROOMS[name]}"), name)
