"""What servers and clients of HTTP share: sockets, hosts, tokens, and the Retry-After header."""

from __future__ import annotations

import socket
import sys
from email.utils import parsedate_to_datetime
from ipaddress import ip_address

from skillyard.base.errors import InvalidInput

_MAX_S = 1e9
"""Thirty years: a larger number is a mistake."""


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


def retry_after_s(header: str | None, now: float) -> float | None:
    """Return the seconds to wait, 0 or more; None where the header is missing or means nothing.

    The header (RFC 9110 §10.2.3) is a number of seconds, decimals allowed, or a date, which is
    compared with ``now`` (Unix time); one in the past is 0. The caller decides how long it waits at
    most.
    """
    text = (header or "").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            return max(0.0, parsedate_to_datetime(text).timestamp() - now)
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    return seconds if 0 <= seconds < _MAX_S else None
