"""Identifies clients by network address, and limits the share of each.

All clients use the same token, if any, so they are distinguished by address; clients behind a
trusted proxy by the address that the proxy reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from skillyard.base.errors import InvalidInput

UNKNOWN = ""
"""The unknown client, which has no share limit: over stdio, and for connections of a trusted proxy,
which carry many clients."""
CLIENT: ContextVar[str] = ContextVar("client", default=UNKNOWN)
"""The client of the current request."""
FORWARDED = b"x-forwarded-for"
TIMES_THE_FREE = 3
"""A client's limit, as a multiple of the free amount. One client alone gets three quarters of the
total, two get three sevenths each, and some of it always stays free for the next client (the
dynamic thresholds of Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998)."""
NETWORK_BITS = 64
"""Prefix length of an IPv6 client: the network of one customer (RFC 6177)."""


class Proxies:
    """The proxies that are trusted to report the addresses of their clients."""

    def __init__(self, addresses: Iterable[str] = ()) -> None:
        """``addresses`` are addresses or networks. Raises InvalidInput for others."""
        try:
            self._networks = tuple(ip_network(each, strict=False) for each in addresses)
        except ValueError as error:
            raise InvalidInput(f"trusted_proxies: {error}") from None

    def trusts(self, address: str) -> bool:
        """True for the address of a trusted proxy."""
        try:
            ip = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
            return any(ip.ipv4_mapped in network for network in self._networks)
        return any(ip in network for network in self._networks)

    def client_of_connection(self, address: str) -> str:
        """Return the client of a connection; unknown for a proxy, until it sends a request."""
        return UNKNOWN if self.trusts(address) else client_of_address(address)

    def client_of(self, scope: Mapping[str, Any]) -> str:
        """Return the client of an ASGI request: the peer, or the client behind a trusted proxy.

        Each proxy appends its client on the right. The last address that is not a trusted proxy is
        therefore the client; everything before it may be forged.
        """
        client = scope.get("client")
        if not client:
            return UNKNOWN
        address = str(client[0])
        if not self.trusts(address):
            return client_of_address(address)
        values = [value.decode("latin-1") for key, value in scope["headers"] if key == FORWARDED]
        for each in reversed(",".join(values).split(",")):
            if not self.trusts(hop := each.strip()):
                return client_of_address(hop) or client_of_address(address)
        return client_of_address(address)


def client_of_address(text: str) -> str:
    """Return the client of an address: the IPv4 address, or the IPv6 network."""
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
    """The amounts that clients hold of one total."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.used = 0
        self._amounts: dict[str, int] = {}

    @property
    def free(self) -> int:
        """The free amount."""
        return self.total - self.used

    def amount_of(self, client: str) -> int:
        """Return the amount of one client."""
        return self._amounts.get(client, 0)

    def may_hold_more(self, client: str) -> bool:
        """True when a client is below its share, or unknown."""
        return client == UNKNOWN or self.amount_of(client) < TIMES_THE_FREE * self.free

    def acquire(self, client: str, amount: int = 1) -> bool:
        """Acquire an amount for a client.

        Returns False, without acquiring any, when its share or the total does not allow it.
        """
        if amount > self.free or (amount and not self.may_hold_more(client)):
            return False
        self.transfer_to(client, amount)
        return True

    def transfer_to(self, client: str, amount: int = 1) -> None:
        """Transfer an amount to a client that was released for it."""
        self.used += amount
        self._amounts[client] = self.amount_of(client) + amount

    def release(self, client: str, amount: int = 1) -> None:
        """Release an amount of a client."""
        self.used -= amount
        left = self.amount_of(client) - amount
        if left:
            self._amounts[client] = left
        else:
            self._amounts.pop(client, None)
