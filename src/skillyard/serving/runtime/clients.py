"""Who asks, by network address, and how much of what all share each of them may hold.

Everybody has the same token where there is one, so clients are told apart by their addresses; those
behind a proxy that is trusted by the address that it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from skillyard.errors import InvalidInput

__all__ = ["CLIENT", "UNKNOWN", "FairShare", "Proxies", "client_of_address"]

UNKNOWN = ""
"""The client that cannot be told, and is not held to a share: over stdio, and a trusted proxy's
connections, which are those of many."""
CLIENT: ContextVar[str] = ContextVar("client", default=UNKNOWN)
"""The client whose request is worked on."""
FORWARDED = b"x-forwarded-for"
TIMES_THE_FREE = 3
"""What a client may hold, as a multiple of what is free. One alone comes to three quarters of the
total, two to three sevenths each, and something stays free for the next one however many there are
(the dynamic thresholds of Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998)."""
NETWORK_BITS = 64
"""Of an IPv6 address: what one customer is given (RFC 6177)."""


class Proxies:
    """The proxies whose word is taken for who their clients are."""

    def __init__(self, addresses: Iterable[str] = ()) -> None:
        """``addresses`` are those of proxies, or networks. Raises InvalidInput for others."""
        try:
            self._networks = tuple(ip_network(each, strict=False) for each in addresses)
        except ValueError as error:
            raise InvalidInput(f"trusted_proxies: {error}") from None

    def trusts(self, address: str) -> bool:
        """True for the address of such a proxy."""
        try:
            ip = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
            return any(ip.ipv4_mapped in network for network in self._networks)
        return any(ip in network for network in self._networks)

    def connected(self, address: str) -> str:
        """Return the client of a connection; unknown for a proxy, before it sends a request."""
        return UNKNOWN if self.trusts(address) else client_of_address(address)

    def client_of(self, scope: Mapping[str, Any]) -> str:
        """Return the client of an ASGI request: who connected, or whom a trusted proxy names.

        Each proxy adds its client on the right, so the first from there that is no proxy is it;
        what stands left of that is whatever the client sent itself.
        """
        client = scope.get("client")
        if not client:
            return UNKNOWN
        address = str(client[0])
        if not self.trusts(address):
            return client_of_address(address)
        values = [value.decode("latin-1") for key, value in scope["headers"] if key == FORWARDED]
        for each in reversed(",".join(values).split(",")):
            if not self.trusts(named := each.strip()):
                return client_of_address(named) or client_of_address(address)
        return client_of_address(address)


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
        """True where a client holds less than its share, or has none that could be told."""
        return client == UNKNOWN or self.held(client) < TIMES_THE_FREE * self.free

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
