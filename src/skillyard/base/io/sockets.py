"""Sockets that are listened on, and what hosts and their tokens may be called."""

from __future__ import annotations

import socket
import sys
from ipaddress import ip_address

from skillyard.base.errors import InvalidInput


def own_address(sock: socket.socket) -> None:
    """Let a socket take an address that an ended process left, and no other process take it too.

    On Windows the option of POSIX systems would let any process listen on the same port.
    """
    if sys.platform == "win32":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)


def is_loopback(host: str) -> bool:
    """Return True for a host that only this machine can reach."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def bearer_token(token: object) -> str:
    """Return a token without blanks around it. Raises InvalidInput for what no header holds."""
    if not isinstance(token, str):
        raise InvalidInput("token must be text", field="token")
    trimmed = token.strip()
    if not (trimmed.isascii() and trimmed.isprintable()) or " " in trimmed:
        raise InvalidInput("token must be visible ASCII characters without blanks", field="token")
    return trimmed
