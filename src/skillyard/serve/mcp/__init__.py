"""The MCP server.

``serve_stdio(ServiceOptions(...))`` serves one client over standard input and output,
``serve_http(ServiceOptions(...))`` many clients over streamable HTTP, and ``mcp_app(context)`` is
the ASGI application for another HTTP service. :mod:`.server` dispatches requests to the tools
(:mod:`.tools`) and to skills as resources (:mod:`.extension`). Both use :mod:`.view_worker` to
answer from the newest view of the library. The official SDK (extra ``serve``) is imported by the
functions that need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillyard.serve.mcp.commands import serve_http, serve_stdio
    from skillyard.serve.mcp.http_app import McpApp, mcp_app
    from skillyard.serve.mcp.server import SkillServer, create_server

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
        raise AttributeError(f"module 'skillyard.serve.mcp' has no attribute {name!r}")
    return getattr(import_module(f"skillyard.serve.mcp.{_ROOMS[name]}"), name)
