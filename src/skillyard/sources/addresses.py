"""Which network addresses may be asked when somebody else chose the host.

Hosts that the settings name are asked wherever they are: a private mirror is private. A host that
comes from a command line or an answer must lie on the public internet, and the connection goes to
the very address that was checked.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence

__all__ = ["is_public", "public_addresses"]

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"),)
_NOT_YET_KNOWN = tuple(
    map(
        ipaddress.ip_network, ("2001::/32", "fec0::/10", "3fff::/20", "5f00::/16", "64:ff9b:1::/48")
    )
)
"""Networks that nobody's server is in, which the standard library's tables may not say: Teredo
tunnels, site-local, documentation, segment routing, local translation."""
_SIX_TO_FOUR = ipaddress.ip_network("2002::/16")


def is_public(address: str) -> bool:
    """True for an address that is reachable by everybody; False for anything that is no address.

    Addresses that carry an IPv4 address inside are what that one is.
    """
    try:
        found = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return False
    inside = _inside(found)
    return all(map(_plain, inside)) if inside else _plain(found)


def _plain(address: _Address) -> bool:
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
        and not any(address in network for network in _NOT_YET_KNOWN)
    )


def _inside(address: _Address) -> list[_Address]:
    """Return the IPv4 addresses that an IPv6 address stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    whole = int(address)
    found: list[_Address] = []
    if address.ipv4_mapped is not None:
        found.append(address.ipv4_mapped)
    if whole >> 32 == 0 or any(address in network for network in _NAT64):
        found.append(ipaddress.IPv4Address(whole & 0xFFFFFFFF))
    if address in _SIX_TO_FOUR:
        found.append(ipaddress.IPv4Address((whole >> 80) & 0xFFFFFFFF))
    return found


async def public_addresses(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host, if all of them are public; empty if one is not, or none is.

    Raises OSError when the name cannot be resolved.
    """
    found = await asyncio.get_running_loop().getaddrinfo(
        host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
    )
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    return addresses if all(map(is_public, addresses)) else []
