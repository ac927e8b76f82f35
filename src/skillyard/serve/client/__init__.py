"""The client of the HTTP service, synchronous or asynchronous.

A call describes one request (:mod:`.calls`). A response is parsed strictly (:mod:`.call`) into
the document that every surface of skillyard writes (:mod:`skillyard.base.shapes`), or raises an
error of the ``SkillyardError`` tree. The two clients in :mod:`.client` add the
connection. Each name loads its module on first use; httpx2, the extra ``remote``, loads when a
client is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillyard.serve.client.call import Retries, SourcesFailed
    from skillyard.serve.client.calls import WellKnownIndex
    from skillyard.serve.client.client import AsyncClient, Client, as_skill

__all__ = ["AsyncClient", "Client", "Retries", "SourcesFailed", "WellKnownIndex", "as_skill"]

_MODULES = {
    "AsyncClient": "client",
    "Client": "client",
    "Retries": "call",
    "SourcesFailed": "call",
    "WellKnownIndex": "calls",
    "as_skill": "client",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module 'skillyard.serve.client' has no attribute {name!r}")
    return getattr(import_module(f"skillyard.serve.client.{_MODULES[name]}"), name)
