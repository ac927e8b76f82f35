"""Which network addresses may be contacted when the host comes from untrusted input.

Hosts named by the settings may be private. A host from a command line or a response must be on
the public internet, and the connection goes to the address that was checked.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        (
            # Protocol assignments, RFC 6890: 192.0.0.8 is a dummy (RFC 7600), 192.0.0.192 was a
            # cloud's metadata. .9 and .10 are reachable, and are the nearest router's, no server's.
            "192.0.0.0/24",
            "192.88.99.0/24",  # relays of 6to4, deprecated, RFC 7526; .2 of 6a44, RFC 6751
            # Azure's wire server, which every virtual machine there reaches by a public address
            # (learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16).
            "168.63.129.16/32",
            # What has been taken out of 2001::/23 again holds no web server.
            "2001::/23",  # protocol assignments, Teredo (2001::/32) among them, RFC 2928, RFC 4380
            "3fff::/20",  # documentation, RFC 9637
        ),
    )
)
"""What ``is_global`` of some or all releases of Python takes for public."""
GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
"""The only global unicast range in the IANA IPv6 Address Space Registry. Outside of it lie
loopback, unique local, link-local, site-local, multicast, segment routing, discard and unassigned
addresses."""
MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")  # RFC 4291
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052
SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")  # RFC 3056


def is_public(address: str) -> bool:
    """True for an address on the public internet; False for anything that is no address.

    An IPv6 address that carries an IPv4 address (mapped, NAT64, 6to4) is judged by that one.
    """
    try:
        parsed = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return False
    parsed = _embedded_ipv4(parsed)
    if not parsed.is_global or parsed.is_multicast or any(parsed in each for each in NOT_PUBLIC):
        return False
    return isinstance(parsed, ipaddress.IPv4Address) or parsed in GLOBAL_UNICAST


def _embedded_ipv4(address: _Address) -> _Address:
    """Return the IPv4 address that an IPv6 address carries, else the address itself."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in MAPPED or address in NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if address in SIX_TO_FOUR:
            return ipaddress.IPv4Address((int(address) >> 80) & 0xFFFFFFFF)
    return address


async def public_addresses(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host, if all of them are public; empty if one is not, or none is.

    Raises OSError when the name cannot be resolved.
    """
    try:
        entries = await asyncio.get_running_loop().getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
    except UnicodeError:  # an empty label, or one that is too long
        raise OSError("it is not the name of a host") from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
    return addresses if all(map(is_public, addresses)) else []
