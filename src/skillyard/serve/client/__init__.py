"""The client of the HTTP service: the Python API over a connection, synchronous or asynchronous.

A call describes one request (:mod:`.calls`). An exchange is a generator without I/O
(:mod:`.exchange`). A response is parsed strictly (:mod:`.document`) into immutable values
(:mod:`.search_results`, :mod:`.library_results`, :mod:`.state`) or raises an error of the
``SkillyardError`` tree (:mod:`.refusals`). The two clients in :mod:`.client` add the connection.
Each name loads its module on first use; httpx2, the extra ``remote``, loads when a client is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillyard.base.shapes.service import ListedSkill
    from skillyard.serve.client.client import AsyncClient, Client
    from skillyard.serve.client.library_results import (
        Ahead,
        Bounds,
        Card,
        Evaluated,
        FeedbackReceipt,
        Ranked,
        Remarks,
        Selected,
    )
    from skillyard.serve.client.library_results import Why as Why
    from skillyard.serve.client.refusals import SourcesFailed
    from skillyard.serve.client.retries import Retries
    from skillyard.serve.client.state import Health, WellKnownIndex

__all__ = [
    "Ahead",
    "AsyncClient",
    "Bounds",
    "Card",
    "Client",
    "Evaluated",
    "FeedbackReceipt",
    "Health",
    "ListedSkill",
    "Ranked",
    "Remarks",
    "Retries",
    "Selected",
    "SourcesFailed",
    "WellKnownIndex",
    "Why",
]

_ROOMS = {
    "Ahead": "library_results",
    "AsyncClient": "client",
    "Bounds": "library_results",
    "Card": "library_results",
    "Client": "client",
    "Evaluated": "library_results",
    "FeedbackReceipt": "library_results",
    "Health": "state",
    "ListedSkill": "state",
    "Ranked": "library_results",
    "Remarks": "library_results",
    "Retries": "retries",
    "Selected": "library_results",
    "SourcesFailed": "refusals",
    "WellKnownIndex": "state",
    "Why": "library_results",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _ROOMS:
        raise AttributeError(f"module 'skillyard.serve.client' has no attribute {name!r}")
    return getattr(import_module(f"skillyard.serve.client.{_ROOMS[name]}"), name)
