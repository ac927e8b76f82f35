"""Who asks, by network address, and how much of what all share each of them may hold.

Everybody has the same token where there is one, so clients are told apart by their addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from ipaddress import IPv6Address, ip_address
from typing import Any

__all__ = ["CLIENT", "FairShare", "client_of", "client_of_address"]

CLIENT: ContextVar[str] = ContextVar("client", default="")
"""The client whose request is worked on; empty where there is one alone, as over stdio."""
TIMES_THE_FREE = 3
"""What a client may hold, as a multiple of what is free. One alone comes to three quarters of the
total, two to three sevenths each, and something stays free for the next one however many there are
(the dynamic thresholds of Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998)."""
NETWORK_BITS = 64
"""Of an IPv6 address: what one customer is given (RFC 6177)."""


def client_of(scope: Mapping[str, Any]) -> str:
    """Return the client of an ASGI request; empty where the server does not know it."""
    client = scope.get("client")
    return client_of_address(client[0]) if client else ""


def client_of_address(text: str) -> str:
    """Return what names the client of an address: IPv4 whole, of IPv6 the network."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return text
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    rest = 128 - NETWORK_BITS
    return f"{IPv6Address(int(address) >> rest << rest)}/{NETWORK_BITS}"


class FairShare:
    """What clients hold of one total, and whether one of them may take more."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.taken = 0
        self._held: dict[str, int] = {}

    @property
    def free(self) -> int:
        """What nobody holds."""
        return self.total - self.taken

    def held(self, client: str) -> int:
        """Return what one client holds."""
        return self._held.get(client, 0)

    def may_hold_more(self, client: str) -> bool:
        """True where a client holds less than its share."""
        return self.held(client) < TIMES_THE_FREE * self.free

    def take(self, client: str, amount: int = 1) -> bool:
        """Give a client more; False, and nothing, where that is more than its share or is left."""
        if amount > self.free or (amount and not self.may_hold_more(client)):
            return False
        self.move_in(client, amount)
        return True

    def move_in(self, client: str, amount: int = 1) -> None:
        """Give a client what another one, or itself, has just given back for it."""
        self.taken += amount
        self._held[client] = self.held(client) + amount

    def give_back(self, client: str, amount: int = 1) -> None:
        """Take back what a client held."""
        self.taken -= amount
        left = self.held(client) - amount
        if left:
            self._held[client] = left
        else:
            self._held.pop(client, None)
