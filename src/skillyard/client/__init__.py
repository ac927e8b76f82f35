"""The client of the HTTP service: the Python API over a connection, waiting or awaiting.

A question is a value (:mod:`.calls`), an exchange is a generator without I/O (:mod:`.exchange`),
and an answer is parsed strictly (:mod:`.document`) into immutable values (:mod:`.found`,
:mod:`.choices`, :mod:`.state`) or is an error of our tree (:mod:`.refusals`). The two clients in
:mod:`.client` add the connection. Each name loads its module when it is used, and httpx2, the
extra ``remote``, loads when a client is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillyard.client.choices import Ahead, Bounds, Card, Evaluated, Ranked, Remarks, Selected
    from skillyard.client.choices import Why as Why
    from skillyard.client.client import AsyncClient, Client
    from skillyard.client.refusals import SourcesFailed
    from skillyard.client.retrying import Retries
    from skillyard.client.state import Health, ListedSkill, WellKnownIndex

__all__ = [
    "Ahead",
    "AsyncClient",
    "Bounds",
    "Card",
    "Client",
    "Evaluated",
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
    "Ahead": "choices",
    "AsyncClient": "client",
    "Bounds": "choices",
    "Card": "choices",
    "Client": "client",
    "Evaluated": "choices",
    "Health": "state",
    "ListedSkill": "state",
    "Ranked": "choices",
    "Remarks": "choices",
    "Retries": "retrying",
    "Selected": "choices",
    "SourcesFailed": "refusals",
    "WellKnownIndex": "state",
    "Why": "choices",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _ROOMS:
        raise AttributeError(f"module 'skillyard.client' has no attribute {name!r}")
    return getattr(import_module(f"skillyard.client.{_ROOMS[name]}"), name)
