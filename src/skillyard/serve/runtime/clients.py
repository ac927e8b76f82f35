"""Identifies clients by network address, and limits the share of each.

All clients use the same token, if any, so they are distinguished by address. For clients behind a
trusted proxy uvicorn takes the address that the proxy reports in X-Forwarded-For.
"""

from __future__ import annotations

from contextvars import ContextVar
from ipaddress import IPv6Address, ip_address

UNKNOWN = ""
"""The unknown client, which has no share limit: over stdio."""
CLIENT: ContextVar[str] = ContextVar("client", default=UNKNOWN)
"""The client of the current request."""
TIMES_THE_FREE = 3
"""A client's limit, as a multiple of the free amount. One client alone gets three quarters of the
total, two get three sevenths each, and some of it always stays free for the next client (the
dynamic thresholds of Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998)."""
NETWORK_BITS = 64
"""Prefix length of an IPv6 client: the network of one customer (RFC 6177)."""


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

    def acquire(self, client: str, amount: int = 1) -> bool:
        """Acquire an amount for a client.

        Returns False, without acquiring any, when its share or the total does not allow it. An
        unknown client has no share.
        """
        has_share = client == UNKNOWN or self.amount_of(client) < TIMES_THE_FREE * self.free
        if amount > self.free or (amount and not has_share):
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
