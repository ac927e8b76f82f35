"""Sockets that are listened on."""

from __future__ import annotations

import socket
import sys


def own_address(sock: socket.socket) -> None:
    """Let a socket take an address that an ended process left, and no other process take it too.

    On Windows the option of POSIX systems would let any process listen on the same port.
    """
    if sys.platform == "win32":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
