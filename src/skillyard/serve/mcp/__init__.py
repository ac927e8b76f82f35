"""The MCP server.

``serve_stdio(ServiceOptions(...))`` serves one client over standard input and output, and
``McpApp(context)`` is the ASGI application of streamable HTTP for the HTTP service. :mod:`.server`
dispatches requests to the tools (:mod:`.tools`) and to skills as resources (:mod:`.extension`).
Both answer from the newest view of the library (:mod:`.call`). The official SDK (extra
``serve``) is imported by what needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillyard.serve.mcp.http_app import McpApp
    from skillyard.serve.mcp.server import SkillServer
    from skillyard.serve.mcp.stdio import serve_stdio

__all__ = ["McpApp", "SkillServer", "serve_stdio"]

_ROOMS = {
    "McpApp": "http_app",
    "SkillServer": "server",
    "serve_stdio": "stdio",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _ROOMS:
        raise AttributeError(f"module 'skillyard.serve.mcp' has no attribute {name!r}")
    return getattr(import_module(f"skillyard.serve.mcp.{_ROOMS[name]}"), name)
