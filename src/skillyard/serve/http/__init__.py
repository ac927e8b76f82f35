"""The HTTP service: the use cases as JSON, and pages for people.

``serve(ServiceOptions(...))`` runs it; ``create_app(ServiceOptions(...))`` returns the ASGI
application for another server. A request passes :mod:`.app` (guards, request id, log, metrics), is
parsed by :mod:`~skillyard.serve.runtime.fields`, handled by one function of :mod:`.routes`, and
encoded by :mod:`~skillyard.serve.runtime.encoding`; :mod:`skillyard.serve.web` renders the pages.
Addresses beyond this machine need a token. Starlette and uvicorn (extra ``serve``) are imported by
the two functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillyard.serve.http.app import create_app, serve, serve_mcp
    from skillyard.serve.runtime.options import ServiceLimits, ServiceOptions

__all__ = ["ServiceLimits", "ServiceOptions", "create_app", "serve", "serve_mcp"]

_ROOMS = {
    "ServiceLimits": "serve.runtime.options",
    "ServiceOptions": "serve.runtime.options",
    "create_app": "serve.http.app",
    "serve": "serve.http.app",
    "serve_mcp": "serve.http.app",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _ROOMS:
        raise AttributeError(f"module 'skillyard.serve.http' has no attribute {name!r}")
    return getattr(import_module(f"skillyard.{_ROOMS[name]}"), name)
