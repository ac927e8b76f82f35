"""The HTTP service: the use cases over JSON, and pages for people, on this machine.

``serve(ServiceOptions(...))`` runs it; ``create_app(ServiceOptions(...))`` is the ASGI
application for a server of one's own. A request passes :mod:`.app` (guards, request id, log,
figures), is read by :mod:`.fields`, answered by one function of :mod:`.routes`, and leaves through
:mod:`.encoding`; what browsers get is made by :mod:`skillyard.web`. Beyond this machine a token is
needed. Starlette and uvicorn, the extra ``serve``, load with the two functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillyard.hosting.options import ServiceLimits, ServiceOptions
    from skillyard.http.app import create_app
    from skillyard.http.serving import serve

__all__ = ["ServiceLimits", "ServiceOptions", "create_app", "serve"]

_ROOMS = {
    "ServiceLimits": "hosting.options",
    "ServiceOptions": "hosting.options",
    "create_app": "http.app",
    "serve": "http.serving",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _ROOMS:
        raise AttributeError(f"module 'skillyard.http' has no attribute {name!r}")
    return getattr(import_module(f"skillyard.{_ROOMS[name]}"), name)
